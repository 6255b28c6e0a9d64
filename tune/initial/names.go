package initial

import (
	"slices"
	"strings"
	"unicode"
)

// A role is the meaning of an argument or a macro, as its name tells it.
type role int

const (
	otherRole   role = iota
	blockRole        // a size of the work-group
	perItemRole      // the elements of a work-item
	sizeRole         // a size of the problem
	strideRole       // the distance of rows
	unrollRole       // the steps of a loop
)

// The words of names by their meaning.
var (
	blockWords = strings.Fields(`block blocksize blockdim bs wg wgs wgsize workgroup group groupsize local localsize lws threads nthreads
		tile tilesize tiledim tilewidth ts`)
	notBlock = strings.Fields(`n num count use mem memory enable no pad padding log bits shift mask stride offset max min id limit blocks
		tiles groups per`)
	perItem   = strings.Fields("wpt ppt ept vw peritem perthread")
	sizeWords = strings.Fields(`n m k nx ny nz ni nj nk nl nm np size length len width height depth w h rows row cols col columns dim count
		num number elements total numel points dimension`)
	notSize = strings.Fields(`offset start begin iter iterations iteration step steps pass stage index idx id seed pad shift log radius
		filter border halo block tile local group incr bits mask gap kernel window min max channel channels warp wave
		wavefront simd lanes order degree`)
	oneWords  = strings.Fields("iter iters iteration iterations pass stage border halo radius pad padding seed incr")
	zeroWords = strings.Fields("off offs start begin base first index idx id")
	strides   = strings.Fields("ld lda ldb ldc pitch stride")
	axisWords = [3][]string{
		strings.Fields("x width w nx cols col columns"), strings.Fields("y height h ny rows row"), strings.Fields("z depth nz"),
	}
)

// wordsOf splits a name into its words in lower case: «blockSizeX» and «BLOCK_SIZE_X» are block, size, x.
func wordsOf(name string) (words []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	var last rune
	for _, c := range name {
		if c == '_' || unicode.IsUpper(c) && unicode.IsLower(last) || unicode.IsDigit(c) != unicode.IsDigit(last) && len(word) > 0 {
			flush()
		}
		if c != '_' {
			word = append(word, c)
		}
		last = c
	}
	flush()
	return words
}

// hasWord reports whether one of the words of a name is in a list.
func hasWord(name string, list []string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(list, w) })
}

// roleOf guesses the meaning of a name, and its dimension: 0 to 2, or -1 if the name says none.
func roleOf(name string) (r role, axis int) {
	has := func(list []string) bool { return hasWord(name, list) }
	axis = slices.IndexFunc(axisWords[:], has)
	switch {
	case has([]string{"unroll"}):
		return unrollRole, axis
	case has(perItem), has([]string{"per"}) && has(strings.Fields("item thread wi work")) && !has(strings.Fields("block group")):
		return perItemRole, axis
	case has(strings.Fields("threads nthreads")) && !has(strings.Fields("min max")), has(blockWords) && !has(notBlock):
		return blockRole, axis
	case has(strides):
		return strideRole, axis
	case has(sizeWords) && !has(notSize):
		return sizeRole, axis
	}
	return otherRole, axis
}

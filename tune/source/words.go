package source

import (
	"regexp"
	"strings"
)

// IsWord reports whether OpenCL C or the headers of its compilers have a name: as a keyword, a type, a function or a macro. If an
// option of the compiler defines such a macro, the headers, which the compiler reads after its options, do not compile.
func IsWord(name string) bool { return words.MatchString(name) }

// words matches the words of OpenCL C 1.0 to 3.0 and, in the last line, further ones of the headers of PoCL 3.1.
var words = regexp.MustCompile(`^(?:` + strings.Join(strings.Fields(`
	auto break case const continue default do else enum extern for goto if inline register restrict return signed sizeof static struct switch
	typedef typeof union unsigned void volatile while asm complex imaginary true false
	kernel global local constant private generic read_only write_only read_write uniform pipe vec_step vec_type_hint
	bool u?char\d* u?short\d* u?int\d* u?long\d* float\d*(?:x\d+)? double\d*(?:x\d+)? half\d* quad\d* u?int(?:8|16|32|64|ptr)_t size_t ptrdiff_t
	event_t sampler_t queue_t ndrange_t clk_event_t reserve_id_t memory_order\w* memory_scope\w* image[123]d\w* atom(?:ic)?_\w+
	a?(?:cos|sin|tan)(?:h|pi)? atan2(?:pi)? sincos cbrt ceil copysign erfc? exp(?:2|10|m1)? fabs fdim floor fma fmax fmin fmod fract frexp hypot
	ilogb ldexp lgamma(?:_r)? log(?:2|10|1p|b)? mad maxmag minmag modf nan nextafter pow[nr]? remainder remquo rint rootn round r?sqrt tgamma trunc
	(?:half|native)_(?:cos|divide|exp(?:2|10)?|log(?:2|10)?|powr|recip|r?sqrt|sin|tan)
	abs abs_diff add_sat r?hadd clamp c[lt]z mad_hi mad_sat mad24 max min mul_hi mul24 rotate sub_sat upsample popcount dot(?:_\w+)? bit_reverse
	bitfield_\w+ degrees mix radians step smoothstep sign cross distance length normalize fast_(?:distance|length|normalize) any all bitselect
	select signbit shuffle2? is(?:equal|notequal|greater|greaterequal|less|lessequal|lessgreater|finite|inf|nan|normal|ordered|unordered)
	(?:as|convert|get|sub_group|work_group|intel|async_work_group|enqueue|commit|reserve)_\w+ v(?:load|store)a?\w* (?:read|write)_(?:image|pipe|mem)\w*
	barrier mem_fence prefetch wait_group_\w+ printf to_(?:global|local|private) ndrange_[123]D (?:retain|release|create_user|is_valid)_event
	is_valid_reserve_id set_user_event_status capture_event_profiling_info
	__\w+ (?:CL|CLK|FP_FAST|ATOMIC|cl)_\w+ M_(?:1_|2_|E|LN|LOG|PI|SQRT)\w* (?:FLT|DBL|HALF)_(?:DIG|EPSILON|MANT|MAX|MIN|RADIX)\w*
	(?:S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG)_(?:BIT|MAX|MIN) HUGE_VALF? MAXFLOAT INFINITY NAN NULL
	attribute cmp convergent ext_vector_type flags format kernel_enqueue_flags_t clk_profiling_info overloadable p pure st val`), "|") + `)$`)

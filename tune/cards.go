package tune

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// Cards is an Evaluator with several devices of one model, its cards. Results name the card that measured them.
type Cards interface {
	Remeasurer

	// Cards returns the names of the cards that can measure now, as results name them. It waits until there is one.
	Cards(ctx context.Context) ([]string, error)

	// RemeasureOn is Remeasure on one of the cards. There are no turns if the card has gone or could not measure.
	RemeasureOn(ctx context.Context, card string, configurations []space.Configuration, rounds int) ([]Turns, error)
}

// withBestOfCards adds the best result of each card, at most as many as there are places: a configuration is not lost because
// a slow card measured it.
func (r *run) withBestOfCards(places []int, ranked []int) []int {
	seen, most := map[string]bool{}, 2*len(places)
	for _, i := range ranked {
		card := r.outcome.Results[i].Device
		if !seen[card] && !slices.Contains(places, i) && len(places) < most {
			places = append(slices.Clip(places), i)
		}
		seen[card] = true
	}
	return places
}

// maxFinalDevices is the number of cards that may fail in the final measurement.
const maxFinalDevices = 3

// RemeasureOnOne is Remeasure on one of the cards, which it names. If a card goes or fails, another one begins anew.
func RemeasureOnOne(
	ctx context.Context, e Cards, configurations []space.Configuration, rounds int,
) (turns []Turns, card string, err error) {
	var failed []string
	for len(failed) < maxFinalDevices {
		ready, err := e.Cards(ctx)
		if err != nil {
			return nil, "", err
		}
		card := ready[max(0, slices.IndexFunc(ready, func(name string) bool { return !slices.Contains(failed, name) }))]
		if turns, err := e.RemeasureOn(ctx, card, configurations, rounds); err != nil || turns != nil {
			return turns, card, err
		}
		failed = append(failed, card)
	}
	return nil, "", errors.New("no device could do it: " + strings.Join(failed, ", "))
}

//go:build !linux

package observe

import "time"

// threads has no counts on this system.
type threads struct{ folder string }

func threadsOf(folder string) *threads { return &threads{folder} }

func openThreads() *threads                                { return nil }
func (t *threads) close()                                  {}
func (t *threads) begin() error                            { return nil }
func (t *threads) waited() (float64, time.Duration, error) { return 0, 0, nil }

// ProcessorTime is 0 where threads have no counts.
func ProcessorTime() time.Duration { return 0 }

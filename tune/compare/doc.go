// Package compare sets records of one problem on several devices side by side: the best
// configuration of each device, what each of them costs on the others, the one configuration
// that is best over all, and the parameters that the devices disagree on.
//
// It ranks by the objective, which must be positive: all that it says are ratios. Of two
// measurements that were taken in turn, in one final measurement, the ratio is that of these;
// otherwise it is that of the searches' measurements. What was not measured is missing, and is
// not guessed; what failed anywhere has a performance portability of 0.
package compare

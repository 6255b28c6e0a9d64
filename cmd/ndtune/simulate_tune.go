package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/simulate"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// The defaults of simulate --tune.
const (
	tunedOptions  = 50 // --max-evals
	tunedRepeats  = 25 // --repeats
	tuneFinalists = 5
)

func strategyTuningFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tune", Category: categorySearch, Usage: fmt.Sprintf("search for the options of `STRATEGY` that give the best performance score, or, for command, of --strategy-command: --max-evals are options to try (default: %d), --repeats searches on each record for a try (default: %d)", tunedOptions, tunedRepeats)},
		&cli.StringSliceFlag{Name: "parameter", Aliases: []string{"p"}, Category: categorySearch, Usage: "with --tune: try only these values of an option, `OPTION=VALUE[,VALUE…]`; may be repeated (docs/strategies.md has the default ones)"},
		&cli.BoolFlag{Name: "leave-one-out", Category: categorySearch, Usage: "with --tune: for each kernel, tune on the records of all others too, and score the options on it; of one kernel alone, for each record"},
		&cli.StringFlag{Name: "log", TakesFile: true, Category: categoryOutput, Usage: "with --tune: keep the run log in `FILE`, and continue the run that it holds (default: a new file in the user's state folder)"},
	}
}

// checkTuneFlags refuses flags that do not go together with --tune, or only with it.
func checkTuneFlags(c *cli.Context) error {
	if !c.IsSet("tune") {
		for _, name := range []string{"parameter", "leave-one-out", "log"} {
			if c.IsSet(name) {
				return wrong("--%s is about --tune: add it", name)
			}
		}
		return nil
	}
	refused := []string{"strategy", "strategy-option", "prior", "trace", "checkpoints", "output", "plot", "batch"}
	switch isCommand := c.String("tune") == tunedCommand; {
	case !isCommand:
		refused = append(refused, "strategy-command", "strategy-timeout")
	case len(c.StringSlice("strategy-command")) != 1:
		return wrong("--tune %s: name the command with one --strategy-command", tunedCommand)
	}
	for _, name := range refused {
		if c.IsSet(name) {
			return wrong("--tune and --%s do not go together; leave out one of them", name)
		}
	}
	return checkPositive(c, "max-evals", "repeats")
}

// tunedCommand is the value of --tune for the strategy of --strategy-command.
const tunedCommand = "command"

// A strategyTuning is simulate --tune: the searches for the best options of a strategy.
type strategyTuning struct {
	*simulate.Tuning
	cli            *cli.Context
	problem        *problem.Problem
	space          *space.Space
	records        []*simulate.Recording
	groups         []string // to be left out, one at a time
	maxEvaluations int
	logPath        string
	started        time.Time
}

// tuneOptions is the action of simulate --tune.
func tuneOptions(c *cli.Context) error {
	t, err := newStrategyTuning(c)
	if err != nil {
		return &usageError{err}
	}
	best, err := t.search("", tunedOver(""))
	if err != nil {
		return err
	}
	report := tunedReport{Strategy: c.String("tune"), Options: t.Values(best.Configuration), IsDefault: t.IsDefault(best.Configuration), Repeats: t.Repeats, configuration: best.Configuration}
	if commands := c.StringSlice("strategy-command"); len(commands) > 0 {
		report.Command = commands[0]
	}
	if report.All, err = t.compare(best.Configuration, ""); err != nil {
		return err
	}
	for _, group := range t.groups {
		other, err := t.search(group, tunedOver(group))
		if err != nil {
			return err
		}
		compared, err := t.compare(other.Configuration, group)
		if err != nil {
			return err
		}
		report.LeftOut = append(report.LeftOut, leftOut{group, t.Values(other.Configuration), average(compared)})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	report.print(c.App.Writer)
	for _, warning := range report.warnings() {
		fmt.Fprintln(c.App.ErrWriter, warning)
	}
	return nil
}

func newStrategyTuning(c *cli.Context) (*strategyTuning, error) {
	t := &strategyTuning{cli: c, maxEvaluations: tunedOptions, logPath: c.String("log"), started: time.Now()}
	repeats := tunedRepeats
	if c.IsSet("max-evals") {
		t.maxEvaluations = c.Int("max-evals")
	}
	if c.IsSet("repeats") {
		repeats = c.Int("repeats")
	}
	given, err := spec.ParseAssignments(c.StringSlice("parameter"))
	if err != nil {
		return nil, fmt.Errorf("-p: %w", err)
	}
	if t.logPath != "" {
		if err := checkFolder(t.logPath); err != nil {
			return nil, fmt.Errorf("--log %s: %w", t.logPath, err)
		}
	}
	isCommand := c.String("tune") == tunedCommand
	if !isCommand {
		if err := search.Check(c.String("tune"), nil, 1); err != nil { // before the records are read
			return nil, fmt.Errorf("--tune: %w", err)
		}
	}
	if t.records, err = readRecordings(c); err != nil {
		return nil, err
	}
	var scorings []*simulate.Scoring
	for _, r := range t.records {
		s, err := simulate.NewScoring(r)
		if err != nil {
			return nil, fmt.Errorf("score %s: %w", r.Name, err)
		}
		scorings = append(scorings, s)
	}
	if isCommand {
		t.Tuning, err = newCommandTuning(c, t.records, given, scorings, repeats)
	} else {
		t.Tuning, err = simulate.NewTuning(c.String("tune"), scorings, repeats, c.Uint64("seed"))
	}
	if err != nil {
		return nil, fmt.Errorf("--tune: %w", err)
	}
	if t.problem, err = t.Problem(given); err != nil {
		return nil, fmt.Errorf("-p: %w", err)
	}
	if c.Bool("leave-one-out") {
		if t.groups = t.Groups(); t.groups == nil {
			return nil, errors.New("--leave-one-out: there is one record alone; name others, best of other kernels")
		}
	}
	t.space, err = t.problem.Space(c.Context, t.Evaluator("").Device())
	return t, err
}

// newCommandTuning returns a tuning of the strategy command. The program is tried before anything else.
func newCommandTuning(c *cli.Context, records []*simulate.Recording, given map[string][]string, scorings []*simulate.Scoring, repeats int) (*simulate.Tuning, error) {
	text := c.StringSlice("strategy-command")[0]
	words, err := commandWords(c, text)
	if err != nil {
		return nil, err
	}
	plan := &simulate.Plan{Recordings: records}
	of := func(values map[string]string) simulate.Strategy {
		name := []string{text}
		for _, option := range slices.Sorted(maps.Keys(values)) {
			name = append(name, option+"="+values[option])
		}
		return commandStrategy(c, plan, strings.Join(name, " "), words, values)
	}
	s, err := of(nil).New(records[0].Space, search.Options{})
	if err != nil {
		return nil, err
	}
	s.Close()
	return simulate.NewTuningOf(tunedCommand, of, given, scorings, repeats, c.Uint64("seed"))
}

// tunedOver names the records of a search, in its log.
func tunedOver(without string) string {
	if without == "" {
		return "all records"
	}
	return "without " + without
}

// search returns the best options on the records that are not of a group.
func (t *strategyTuning) search(without, title string) (*tune.Result, error) {
	c, e := t.cli, t.Evaluator(without)
	log, err := t.openLog(e, title)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	budget := min(t.maxEvaluations, t.space.Len())
	bar := newProgress(c.App.ErrWriter, (budget+(tuneFinalists+1)*simulate.FinalRounds)*e.Recordings()*t.Repeats, "search", false)
	t.OnRepeats = bar.count
	defer bar.finish()
	options := search.Options{Seed: t.Seed, Budget: t.maxEvaluations}
	if standard, ok := t.problem.Baseline(); ok {
		if i, ok := t.space.Index(standard); ok {
			options.Start = []int{i}
		}
	}
	outcome, err := tune.Run(c.Context, t.problem, e, tune.Options{
		Space: t.space, MaxEvaluations: t.maxEvaluations, Finalists: tuneFinalists, Log: log,
		Strategy: func(s *space.Space) (search.Strategy, error) { return search.New(search.Auto, s, options) },
		OnResult: func(r tune.Result, resumed bool) {
			if without == "" && !c.Bool("json") {
				bar.print(c.App.Writer, triedText(r))
			}
		},
	})
	bar.finish()
	switch {
	case err != nil:
		return nil, fmt.Errorf("tune %s: %w", t.Strategy, err)
	case outcome.Stop == tune.Interrupted:
		if outcome.Best != nil {
			fmt.Fprintf(c.App.ErrWriter, "Interrupted; the best so far: %s\n", triedText(*outcome.Best))
		}
		fmt.Fprintf(c.App.ErrWriter, "run log: %s%s\n", log.Path(), continuations[tune.Interrupted])
		return nil, context.Canceled
	case outcome.Best == nil:
		return nil, fmt.Errorf("tune %s: no options have a score: %s", t.Strategy, outcome.Results[0].Reason)
	}
	text := fmt.Sprintf("%s: %s of options tried", title, figure.Count(len(outcome.Results), "choice"))
	if outcome.Resumed > 0 {
		text += fmt.Sprintf(", %d from the log", outcome.Resumed)
	}
	if without == "" {
		text += "; run log: " + log.Path()
	}
	fmt.Fprintln(c.App.ErrWriter, text)
	return outcome.Best, nil
}

func (t *strategyTuning) openLog(e *simulate.Evaluator, title string) (*record.Log, error) {
	h := record.NewHeader(t.problem, "simulate --tune")
	h.Size, h.Device, h.SpaceSize = title, e.Device(), t.space.Len()
	h.Metrics = t.problem.MetricNames(h.Device)
	h.Strategy, h.Seed, h.Started, h.Tool = search.Auto, t.Seed, t.started, "ndtune "+versionText()
	if t.logPath == "" {
		var err error
		if t.logPath, err = record.DefaultPath(h); err != nil {
			return nil, fmt.Errorf("choose a place for the run log: %w (name one with --log FILE)", err)
		}
	}
	log, err := record.Open(t.logPath, h)
	if err != nil {
		return nil, wrong("--log: %w (a log is about one strategy, the same records, --repeats and --seed)", err)
	}
	log.Notify(func(text string) { fmt.Fprintln(t.cli.App.ErrWriter, text) })
	return log, nil
}

func triedText(r tune.Result) string {
	if r.Status != tune.Correct {
		return fmt.Sprintf("%s: %s", r.Configuration, r.Reason)
	}
	return fmt.Sprintf("%s, score=%.3f", r.Configuration, r.Objective)
}

// compare scores options beside the defaults on the records of a group.
func (t *strategyTuning) compare(c space.Configuration, group string) ([]comparedScores, error) {
	t.OnRepeats = nil
	defaults, tuned, err := t.Compare(t.cli.Context, c, group)
	if err != nil {
		return nil, fmt.Errorf("score the best options: %w", err)
	}
	var all []comparedScores
	for i := range defaults {
		all = append(all, comparedScores{defaults[i].Record, scoreOf(defaults[i]), scoreOf(tuned[i])})
	}
	return all, nil
}

// comparedScores are the scores of the defaults and of tuned options on a record.
type comparedScores struct {
	Record   string    `json:"record"`
	Defaults scoreFile `json:"defaults"`
	Tuned    scoreFile `json:"tuned"`
}

type scoreFile struct {
	Score  float64 `json:"score"`
	StdErr float64 `json:"stderr"`
}

func scoreOf(s simulate.Score) scoreFile { return scoreFile{s.Mean, s.StandardError} }

func (s scoreFile) String() string { return estimate(s.Score, s.StdErr) }

// average returns the mean over records, each with the same weight.
func average(list []comparedScores) comparedScores {
	mean := comparedScores{Record: simulate.AllRecords}
	n := float64(len(list))
	for _, s := range list {
		mean.Defaults.Score += s.Defaults.Score / n
		mean.Tuned.Score += s.Tuned.Score / n
		mean.Defaults.StdErr = math.Hypot(mean.Defaults.StdErr, s.Defaults.StdErr/n)
		mean.Tuned.StdErr = math.Hypot(mean.Tuned.StdErr, s.Tuned.StdErr/n)
	}
	return mean
}

// isGain reports whether the tuned options are better by more than twice the standard error of the difference.
func (s comparedScores) isGain() bool {
	return s.Tuned.Score-s.Defaults.Score > 2*math.Hypot(s.Tuned.StdErr, s.Defaults.StdErr)
}

// A tunedReport is the end of simulate --tune.
type tunedReport struct {
	Strategy  string            `json:"strategy"`
	Command   string            `json:"command,omitempty"`
	Options   map[string]string `json:"options"`
	IsDefault bool              `json:"is_default"`
	Repeats   int               `json:"repeats"` // of an evaluation
	All       []comparedScores  `json:"records"`
	LeftOut   []leftOut         `json:"left_out,omitempty"`

	configuration space.Configuration
}

// leftOut are the options that are best on the other records, and their scores on those that were left out.
type leftOut struct {
	Group   string            `json:"left_out"`
	Options map[string]string `json:"options"`
	Scores  comparedScores    `json:"scores"`
}

func (r tunedReport) print(w io.Writer) {
	words := []string{"--strategy", r.Strategy}
	if r.Command != "" {
		words = []string{"--strategy-command", shellQuoted(r.Command)}
	}
	for _, name := range r.configuration.Parameters().Names() {
		words = append(words, "--strategy-option", shellQuoted(name+"="+r.Options[name]))
	}
	fmt.Fprintf(w, "\nbest options: %s\n", strings.Join(words, " "))
	fmt.Fprintln(w, "\nperformance score by other searches, mean ± standard error")
	rows := [][]string{{"record", "defaults", "tuned"}}
	row := func(name string, s comparedScores) []string {
		return []string{name, s.Defaults.String(), s.Tuned.String()}
	}
	for _, s := range r.All {
		rows = append(rows, row(s.Record, s))
	}
	if len(r.All) > 1 {
		rows = append(rows, row("mean", average(r.All)))
	}
	figure.Columns(w, "  ", func(column int) bool { return column > 0 }, rows...)
	if len(r.LeftOut) == 0 {
		return
	}
	fmt.Fprintln(w, "\nleft out of the search, whose best options were scored on it")
	rows = [][]string{{"left out", "defaults", "tuned"}}
	for _, l := range r.LeftOut {
		rows = append(rows, row(l.Group, l.Scores))
	}
	rows = append(rows, row("mean", r.unseen()))
	figure.Columns(w, "  ", func(column int) bool { return column > 0 }, rows...)
}

// unseen is the mean over all that was left out.
func (r tunedReport) unseen() comparedScores {
	var list []comparedScores
	for _, l := range r.LeftOut {
		list = append(list, l.Scores)
	}
	return average(list)
}

// warnings say how far the scores of the tuned options can be trusted.
func (r tunedReport) warnings() (texts []string) {
	switch {
	case r.IsDefault:
		texts = append(texts, "The best options are the defaults.")
	case average(r.All).Tuned.Score <= average(r.All).Defaults.Score:
		texts = append(texts, "By other searches, these options are no better than the defaults: keep those.")
	case !average(r.All).isGain():
		texts = append(texts, "The gain is less than twice its standard error: the defaults may be as good. More --repeats tell.")
	}
	switch {
	case len(r.LeftOut) > 0 && !r.unseen().isGain():
		texts = append(texts, "On what the search has not seen, there is no gain beyond twice the standard error: the options are fitted to these records. Keep the defaults for other kernels.")
	case len(r.LeftOut) > 0, r.IsDefault:
	case len(r.All) == 1:
		texts = append(texts, "The options are fitted to this record. With records of other kernels, --leave-one-out shows what they are worth elsewhere.")
	default:
		texts = append(texts, "The options are fitted to these records. --leave-one-out shows what such options are worth on a kernel that the search has not seen.")
	}
	return texts
}

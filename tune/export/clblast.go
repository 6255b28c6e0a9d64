package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// A clblastKernel is a kernel that a tuner of CLBlast tunes.
type clblastKernel struct {
	name, family string
	parameters   string
	arguments    string // name=place: a dimension of the problem size, x or y, or the place of an argument of the kernel
}

var clblastKernels = []clblastKernel{
	{"XaxpyFastest", "xaxpy", "VW WGS WPT", "n=0 alpha=1"},
	{"Xdot", "xdot_1", "WGS1", "n=0"},
	{"Xgemv", "xgemv", "WGS1 WPT1", "m=0 n=1 alpha=2 beta=3"},
	{"XgemvFast", "xgemv_fast", "VW2 WGS2 WPT2", "m=0 n=1 alpha=2 beta=3"},
	{"XgemvFastRot", "xgemv_fast_rot", "VW3 WGS3 WPT3", "m=0 n=1 alpha=2 beta=3"},
	{"Xger", "xger", "WGS1 WGS2 WPT", "m=0 n=1 alpha=2"},
	{"CopyMatrixFast", "copy", "COPY_DIMX COPY_DIMY COPY_VW COPY_WPT", "m=x n=y alpha=3"},
	{"CopyPadMatrix", "pad", "PAD_DIMX PAD_DIMY PAD_WPTX PAD_WPTY", "m=0 n=1 alpha=10"},
	{"TransposeMatrixFast", "transpose", "TRA_DIM TRA_PAD TRA_SHUFFLE TRA_WPT", "m=x n=y alpha=3"},
	{"TransposePadMatrix", "padtranspose", "PADTRA_PAD PADTRA_TILE PADTRA_WPT", "m=0 n=1 alpha=10"},
	{"Xgemm", "xgemm_2", "GEMMK KREG KWG KWI MDIMA MDIMC MWG NDIMB NDIMC NWG SA SB STRM STRN VWM VWN", "m=0 n=1 k=2 alpha=3 beta=4"},
	{"XgemmDirectTN", "xgemm_direct_2", "KWID MDIMAD MDIMCD NDIMBD NDIMCD PADA PADB VWMD VWND WGD", "m=0 n=1 k=2 alpha=3 beta=4"},
}

// CLBlast's words for vendors and for architectures of AMD. Others stay as they are.
var (
	clblastVendors = map[string]string{
		"Intel(R) Corporation": "Intel", "GenuineIntel": "Intel", "Advanced Micro Devices, Inc.": "AMD", "NVIDIA Corporation": "NVIDIA",
	}
	clblastArchitectures = map[string]string{"gfx803": "Fiji", "gfx900": "Vega"}
	clblastTypes         = map[string]string{"cpu": "CPU", "gpu": "GPU", "accelerator": "accelerator"}
)

// CLBlast returns the files that CLBlast's tuner would write after the runs of some records of a problem, for
// scripts/database of CLBlast: one for each device and size, by name, with all correct results. The error says why
// there are none: the kernel is not CLBlast's, it has other parameters, or a record does not describe the device.
func CLBlast(p *problem.Problem, records []*record.Record) (map[string][]byte, error) {
	i := slices.IndexFunc(clblastKernels, func(k clblastKernel) bool { return k.name == p.KernelName() })
	if i < 0 || p.IsPipeline() {
		var names []string
		for _, k := range clblastKernels {
			names = append(names, k.name)
		}
		return nil, fmt.Errorf("%s is none of the kernels of CLBlast that can be exported: %s", p.KernelName(), strings.Join(names, ", "))
	}
	if o := p.Objective(); !o.Equal(problem.Objective{Name: "time"}) {
		return nil, fmt.Errorf("the objective is %s, and that of CLBlast's tuner is the time", objectiveNames(o))
	}
	merged, err := mergeRecords(p, records)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, r := range merged {
		name, data, err := clblastKernels[i].file(p, r)
		if err != nil {
			return nil, fmt.Errorf("the record on %s at %s: %w", r.Header.Device.Name, figure.Sizes(r.Header.ProblemSize), err)
		}
		files[name] = data
	}
	return files, nil
}

// file returns the file of one record.
func (k *clblastKernel) file(p *problem.Problem, r *record.Record) (name string, data []byte, err error) {
	h := &r.Header
	places := tune.Rank(p.Objective(), r.Results).Places
	switch {
	case h.Device.Vendor == "" || clblastTypes[h.Device.Type] == "":
		return "", nil, errors.New("it does not tell the vendor and the type of the device; a run log does")
	case len(places) == 0:
		return "", nil, errors.New("it has no correct configuration")
	}
	precision, constants := "32", map[string]int{}
	for _, c := range h.Constants {
		if n, ok := c.Number().(int); ok {
			constants[c.Name] = n
		}
		if c.Name == "PRECISION" {
			precision = space.FormatValue(c.Value)
		}
	}
	type result struct {
		Kernel     string         `json:"kernel"`
		Time       float64        `json:"time"`
		Parameters map[string]int `json:"parameters"`
	}
	var results []result
	number, err := strconv.Atoi(precision)
	if err != nil {
		return "", nil, fmt.Errorf("the constant PRECISION is %s, not a number of CLBlast such as 32", precision)
	}
	for _, place := range places {
		values := map[string]space.Value{}
		r.Results[place].Configuration.Assign(values)
		parameters := map[string]int{"PRECISION": number}
		for _, name := range strings.Fields(k.parameters) {
			value, varies := values[name]
			n, whole := value.(int)
			if !varies {
				n, whole = constants[name]
			}
			if !whole {
				return "", nil, fmt.Errorf("CLBlast's tuner of %s has the parameter %s, to which the specification gives no whole number; add it to the constants", k.family, name)
			}
			parameters[name] = n
			delete(values, name)
		}
		for name := range values {
			return "", nil, fmt.Errorf("the specification has the parameter %s, which CLBlast's tuner of %s has not", name, k.family)
		}
		results = append(results, result{k.name, r.Results[place].Figures().Time, parameters})
	}
	best := results[0]
	fields := [][2]string{
		{"kernel_family", k.family}, {"precision", precision}, {"best_kernel", k.name},
		{"best_time", fmt.Sprintf("%.2f", best.Time)}, {"best_parameters", parameterText(best.Parameters)},
	}
	arguments, err := clblastArguments(p, r, &r.Results[places[0]], k.arguments)
	if err != nil {
		return "", nil, err
	}
	fields = append(append(fields, arguments...), clblastDevice(h.Device)...)
	var b bytes.Buffer
	b.WriteString("{\n")
	for _, f := range fields {
		value, err := json.Marshal(f[1])
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(&b, "  %q: %s,\n", f[0], value)
	}
	b.WriteString("  \"results\": [\n")
	for i, one := range results {
		line, err := json.Marshal(one)
		if err != nil {
			return "", nil, err
		}
		separator := ","
		if i == len(results)-1 {
			separator = ""
		}
		fmt.Fprintf(&b, "    %s%s\n", line, separator)
	}
	b.WriteString("  ]\n}\n")
	return fmt.Sprintf("clblast_%s_%s_%s_%s.json", k.family, precision, underscored(h.Device.Name), sizeText(h.ProblemSize)), b.Bytes(), nil
}

// parameterText returns parameters for people: «VW=1 WGS=64».
func parameterText(parameters map[string]int) string {
	var texts []string
	for name, n := range parameters {
		texts = append(texts, fmt.Sprintf("%s=%d", name, n))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// clblastArguments returns the arguments of CLBlast's tuner at the size of a record. List is that of clblastKernel.
func clblastArguments(p *problem.Problem, r *record.Record, of *tune.Result, list string) (arguments [][2]string, err error) {
	d := p.Definition()
	d.Verify, d.Baseline, d.Constants = nil, nil, r.Header.Constants
	at, err := problem.New(d)
	if err != nil {
		return nil, err
	}
	values := map[string]space.Value{}
	of.Configuration.Assign(values)
	c, err := at.Parameters().Configure(values)
	if err != nil {
		return nil, err
	}
	launches, err := at.Launches(c, r.Header.Device)
	if err != nil {
		return nil, err
	}
	infos := at.Arguments()
	for _, item := range strings.Fields(list) {
		name, place, _ := strings.Cut(item, "=")
		size := append(slices.Clone(r.Header.ProblemSize), 1)
		value := ""
		switch n, _ := strconv.Atoi(place); {
		case place == "x" || place == "y":
			value = fmt.Sprint(size[int(place[0]-'x')])
		case n >= len(infos) || infos[n].Kind != problem.ScalarArgument || infos[n].Struct != nil:
			return nil, fmt.Errorf("the argument %d of the kernel has to be CLBlast's %s, a scalar", n, name)
		default:
			value = scalarText(infos[n].Type, launches[0].Scalars[n])
		}
		arguments = append(arguments, [2]string{"arg_" + name, value})
	}
	return arguments, nil
}

// scalarText returns a number as CLBlast's tuner writes it: 1024, 2.00, or 2.00+0.50i for a vector of two.
func scalarText(t array.Type, data []byte) string {
	a := &array.Array{Type: t, Bytes: data}
	switch t.Scalar() {
	case array.Float16:
		return fmt.Sprintf("%f", a.Float(0))
	case array.Float32, array.Float64:
		if t == t.Scalar() {
			return fmt.Sprintf("%.2f", a.Float(0))
		}
		return fmt.Sprintf("%.2f+%.2fi", a.Float(0), a.Float(1))
	}
	return fmt.Sprintf("%.0f", a.Float(0))
}

// clblastDevice returns the fields that describe a device. A record has no vendor and version of the platform: the name
// of the platform and the version of the driver stand there.
func clblastDevice(d hardware.Device) [][2]string {
	name, board := strings.TrimSpace(d.Name), ""
	architecture := ""
	switch {
	case slices.Contains(d.Extensions, "cl_nv_device_attribute_query"):
		architecture = fmt.Sprintf("SM%d.%d", d.ComputeMajor, d.ComputeMinor)
	case slices.Contains(d.Extensions, "cl_amd_device_attribute_query"):
		architecture, board = name, name
		if before, after, ok := strings.Cut(strings.TrimSuffix(name, ")"), " ("); ok { // as device.Describe joins them
			board, architecture, name = before, after, after
		}
	}
	if board == "" {
		board = name
	}
	if known := clblastArchitectures[architecture]; known != "" {
		architecture = known
	}
	vendor := strings.TrimSpace(d.Vendor)
	if known := clblastVendors[vendor]; known != "" {
		vendor = known
	}
	typ := clblastTypes[d.Type]
	return [][2]string{
		{"clblast_device_type", typ}, {"clblast_device_vendor", vendor}, {"clblast_device_architecture", architecture},
		{"clblast_device_name", strings.Replace(board, "pthread-", "", 1)},
		{"device", name}, {"platform_vendor", d.Platform}, {"platform_version", d.Driver}, {"device_vendor", d.Vendor}, {"device_type", typ},
		{"device_core_clock", fmt.Sprint(d.ClockMHz)}, {"device_compute_units", fmt.Sprint(d.ComputeUnits)}, {"device_extra_info", ""},
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// A servedSearch is a search whose page is being served.
type servedSearch struct {
	t       *testing.T
	folder  string
	command *exec.Cmd
	notes   *bufio.Reader
	out     strings.Builder
	url     *url.URL
}

// startServed starts a search and reads where its page is.
func startServed(t *testing.T, arguments ...string) *servedSearch {
	t.Helper()
	d := needDevice(t)
	s := &servedSearch{t: t, folder: t.TempDir(), command: exec.Command("ndtune", append(arguments, "--device", d.Selector)...)}
	if err := copySpecs(s.folder); err != nil {
		t.Fatal(err)
	}
	c := s.command
	c.Dir, c.Env, c.Stdout = s.folder, programEnvironment(s.folder), &s.out
	notes, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	s.notes = bufio.NewReader(notes)
	line, err := s.notes.ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "live: ")
	if err != nil || !found {
		t.Fatalf("it begins with %q, %v", line, err)
	}
	if s.url, err = url.Parse(address); err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks the server on this machine's own address, whatever it is bound to.
func (s *servedSearch) get(path, host string) *http.Response {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+s.url.Port()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// end waits for the search, which must have done what it does without a page.
func (s *servedSearch) end() (notes string) {
	s.t.Helper()
	rest, err := io.ReadAll(s.notes)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, rest)
	}
	if !strings.Contains(s.out.String(), "best performing configuration: ") {
		s.t.Errorf("it printed %s", s.out.String())
	}
	return string(rest)
}

// A servedPart is what these tests look at of an event.
type servedPart struct {
	Progress struct {
		Place, Total int
		Ended        string
	}
	Run struct {
		Kernel  string
		Summary struct {
			Evaluations int
			Best        *struct{ Configuration string }
		}
	}
}

// readParts reads a stream to its end.
func readParts(t *testing.T, stream io.Reader) []servedPart {
	t.Helper()
	all, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(all), "event: end\ndata: {}\n\n") {
		t.Errorf("the stream ends without an end: …%s", all[max(0, len(all)-100):])
	}
	var parts []servedPart
	for line := range strings.Lines(string(all)) {
		data, found := strings.CutPrefix(line, "data: ")
		if !found || data == "{}\n" {
			continue
		}
		var p servedPart
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// TestServe follows a search from its beginning to its end, and asks for what is refused.
func TestServe(t *testing.T) {
	s := startServed(t, "tune", "add.yaml", "--serve", "127.0.0.1:0")
	stream := s.get("/events", "")
	page := s.get("/", "")
	if text, err := io.ReadAll(page.Body); err != nil || page.StatusCode != http.StatusOK || !strings.Contains(string(text), `"live":"events"`) {
		t.Errorf("the page: %s, %v", page.Status, err)
	}
	for path, host := range map[string]string{"/": "evil.example", "/events": "evil.example:" + s.url.Port()} {
		if got := s.get(path, host).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s as %s: %d", path, host, got)
		}
	}
	parts := readParts(t, stream.Body)
	s.end()
	last := parts[len(parts)-1]
	if len(parts) < 2 || last.Progress.Total != 9 || last.Progress.Ended != "Finished" || last.Run.Kernel != "add" || last.Run.Summary.Evaluations != 9 {
		t.Errorf("%d parts, the last is %+v", len(parts), last)
	}
	if best := last.Run.Summary.Best; best == nil || !strings.Contains(s.out.String(), "\nbest performing configuration: "+best.Configuration+", ") {
		t.Errorf("the page says %+v, the terminal %s", best, s.out.String())
	}
	if _, err := net.Dial("tcp", "127.0.0.1:"+s.url.Port()); err == nil {
		t.Error("the port still answers")
	}
}

// TestServeOfATutorial shows one search after the other.
func TestServeOfATutorial(t *testing.T) {
	s := startServed(t, "matmul", "tune", "--kernel", "all", "--size", "32", "--max-evals", "2", "--serve", ":0")
	if s.url.Hostname() != "127.0.0.1" {
		t.Errorf("without a host the address is %s", s.url)
	}
	parts := readParts(t, s.get("/events", "").Body)
	s.end()
	ended := map[int]int{}
	for _, p := range parts {
		if p.Progress.Ended == "Stopped by the number of evaluations" {
			ended[p.Progress.Place] += p.Run.Summary.Evaluations
		}
	}
	if searches := slices.Collect(maps.Values(ended)); len(searches) < 2 || slices.Max(searches) != 2 || slices.Min(searches) != 2 {
		t.Errorf("the searches that ended had so many evaluations: %v", ended)
	}
}

// TestServeRefused: what cannot be served is said before anything is measured.
func TestServeRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := specFolder(t)
	for address, want := range map[string]string{
		taken.Addr().String(): "ndtune: --serve: listen at " + taken.Addr().String() + ": ",
		"8080":                `ndtune: --serve: "8080": want HOST:PORT, such as 127.0.0.1:8080`,
		"":                    `ndtune: --serve: "": want HOST:PORT`,
		"0.0.0.0:8080":        `ndtune: --serve: "0.0.0.0:8080": the page is for browsers on this machine: `,
	} {
		c := exec.Command("ndtune", "tune", "add.yaml", "--log", "log.jsonl", "--serve", address)
		c.Dir, c.Env = folder, programEnvironment(folder)
		var stdout, stderr strings.Builder
		c.Stdout, c.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := c.Run(); !errors.As(err, &exit) || exit.ExitCode() != ui.StatusUsage || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%q: %v, %s%s", address, err, stdout.String(), stderr.String())
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "log.jsonl")); err == nil {
		t.Error("there is a log")
	}
}

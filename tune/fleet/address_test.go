package fleet

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoPasswordIsPrinted: whatever is wrong with an address, its error has neither the password nor a part of it.
func TestNoPasswordIsPrinted(t *testing.T) {
	for _, address := range []string{
		"tls://u:SECRET%PASS@h.example:4222", "tls://u:SECRET PASS@h:4222", " tls://u:SECRET@h:4222", "tls://u:SECRET@h:4222 ", "tls://u:SECRET@h:PASS",
		"u:SECRET@h:4222", "SECRET@h:4222", "tls://u:SECRET", "nats://u:11SECRET@h:1", "nats://SECRET@h:1", "tls:u:SECRET@h", "//u:SECRET@h",
		"http://u:SECRET@h", "tls://u:SECRET@", "tls://u:SECRET@[h:1", "tls://u:SECRET\x00@h", "tls://u:SECRET@h/SECRET",
		"nats://u:11/SECRET@h:1", "tls://u:11?SECRET@h", "tls://u:11#SECRET@h", "nats://u:11,SECRET@h:1", "tls://u:SECRET,11@h:1", "tls://u:SECRET;11@h:1",
		"tls://u:SECRET@h:1?pass=SECRET", "tls://u:11?SECRET;11@h", "tls://u:11?SECRET=%PASS@h", "tls://u:SECRET@h:1?credentials=a&credentials=b",
		"tls://u:SECRET%2CPASS@127.0.0.1:1", "tls://u:SECRET@127.0.0.1:1", "tls://SECRET@127.0.0.1:1", "nats://u:SECRET@127.0.0.1:1?authority=/missing",
		"nats://127.0.0.1:1,tls://u:SECRET%2CPASS@127.0.0.1:1",
	} {
		c, err := Connect(t.Context(), address, "test", nil)
		if err == nil {
			c.Close()
			t.Errorf("a connection to %s", address)
		} else if text := err.Error(); strings.Contains(text, "SECRET") || strings.Contains(text, "PASS") || strings.Contains(text, "11") {
			t.Errorf("%s: %s", address, text)
		}
	}
}

// TestFilesOfAnAddress: only regular files of some length are read.
func TestFilesOfAnAddress(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{os.DevNull: "it is a device", t.TempDir(): "it is a folder", large: "it has more than 64 MiB"} {
		for _, parameter := range []string{authorityParameter, credentialsParameter} {
			c, err := Connect(t.Context(), "nats://127.0.0.1:1?"+url.Values{parameter: {path}}.Encode(), "test", nil)
			if err == nil {
				c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s=%s: %v, want %s", parameter, path, err, want)
			}
		}
	}
}

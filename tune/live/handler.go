package live

import (
	"net/http"
	"time"
)

// handler answers for the page, for its events and for nothing else.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		s.guard.remember(w)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = w.Write(s.page)
	})
	mux.HandleFunc("GET /"+eventsPath, s.events)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the token may be in the address
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.ContentLength != 0 { // nor is one waited for, by a client that sends a part of it
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
			h.Set("Connection", "close")
			http.Error(w, "a request with a body is not answered", http.StatusBadRequest)
			return
		}
		if why := s.guard.refuse(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		defer s.connections.hold(r)()
		mux.ServeHTTP(w, r)
	})
}

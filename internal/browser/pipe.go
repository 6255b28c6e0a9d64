package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"

	"github.com/go-rod/rod/lib/proto"
)

// A pipe carries the DevTools protocol: messages of JSON, each ended by a zero byte. It hands the
// events of a page on before it reads the next message: once a command is answered, all that the
// page has said before is known.
type pipe struct {
	to, from *os.File
	lines    *bufio.Reader

	mutex     sync.Mutex
	listeners map[proto.TargetSessionID]func(method string, params json.RawMessage)
}

// startWithPipe starts a browser that reads commands from its descriptor 3 and answers on 4.
func startWithPipe(command *exec.Cmd) (*pipe, error) {
	commands, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	from, answers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	defer answers.Close()
	command.ExtraFiles = []*os.File{commands, answers}
	if err := command.Start(); err != nil {
		return nil, errors.Join(err, to.Close(), from.Close())
	}
	return &pipe{
		to: to, from: from, lines: bufio.NewReader(from),
		listeners: map[proto.TargetSessionID]func(string, json.RawMessage){},
	}, nil
}

// close ends the browser, which lives as long as its pipe. What it still says is read by its client.
func (p *pipe) close() error { return p.to.Close() }

// listen has a function called with each event of a page. The function must not send commands.
func (p *pipe) listen(id proto.TargetSessionID, f func(method string, params json.RawMessage)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.listeners[id] = f
}

// forget ends listen.
func (p *pipe) forget(id proto.TargetSessionID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.listeners, id)
}

// Send implements cdp.WebSocketable.
func (p *pipe) Send(message []byte) error {
	_, err := p.to.Write(append(message, 0))
	return err
}

// Read implements cdp.WebSocketable.
func (p *pipe) Read() ([]byte, error) {
	message, err := p.lines.ReadBytes(0)
	if err != nil {
		return nil, errors.Join(err, p.from.Close())
	}
	message = bytes.TrimSuffix(message, []byte{0})
	var event struct {
		Session proto.TargetSessionID `json:"sessionId"`
		Method  string                `json:"method"`
		Params  json.RawMessage       `json:"params"`
	}
	if err := json.Unmarshal(message, &event); err != nil {
		return nil, err
	}
	p.mutex.Lock()
	listener := p.listeners[event.Session]
	p.mutex.Unlock()
	if listener != nil && event.Method != "" {
		listener(event.Method, event.Params)
	}
	return message, nil
}

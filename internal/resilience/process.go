package resilience

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience bounds every wait for something that should happen by itself.
const patience = 60 * time.Second

// Process is a process that was started here, with what it says on standard error.
type Process struct {
	Name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended, with err
	err  error

	mu      sync.Mutex
	last    []byte                    // of what it said
	said    map[string]map[string]any // the first record of each message of its log
	changed chan struct{}             // closed at each record
}

// keptLog is how many bytes of a process's log are kept.
const keptLog = 64 << 10

// launch starts a process. It dies with this one.
func launch(name string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{Name: name, cmd: cmd, done: make(chan struct{}), said: map[string]map[string]any{},
		changed: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		p.listen(stderr)
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *Process) listen(stderr io.Reader) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadBytes('\n')
		p.hear(line)
		if err != nil {
			return
		}
	}
}

func (p *Process) hear(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, line...)
	p.last = p.last[max(0, len(p.last)-keptLog):]
	var record map[string]any
	if json.Unmarshal(line, &record) != nil {
		return
	}
	if message, _ := record["msg"].(string); p.said[message] == nil {
		p.said[message] = record
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Log is the end of what the process said.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(bytes.Clone(p.last))
}

// says waits until the process has logged a message, and returns its first record.
func (p *Process) says(ctx context.Context, message string) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		p.mu.Lock()
		record, changed := p.said[message], p.changed
		p.mu.Unlock()
		if record != nil {
			return record, nil
		}
		select {
		case <-changed:
		case <-p.done:
			return nil, fmt.Errorf("%s ended with %w\n%s", p.Name, p.err, p.Log())
		case <-ctx.Done():
			return nil, fmt.Errorf("%s does not say %q\n%s", p.Name, message, p.Log())
		}
	}
}

// Signal sends a signal and waits for the end of the process, which it returns.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("%s does not end after %v\n%s", p.Name, s, p.Log())
	}
}

// Kill ends the process at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// RSS is the memory that the process has resident, in bytes (proc(5), status: VmRSS).
func (p *Process) RSS() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("%s has ended", p.Name)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}

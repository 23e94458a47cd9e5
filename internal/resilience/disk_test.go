package resilience

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // driver sqlite
)

// TestDiskFull has the embedded database on a file system of 4 MiB, which fills up and is emptied,
// twice.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	needsWhole(t)
	ctx := context.Background()
	s, data := startOnSmallDisk(t)
	callers := []*Caller{must(s.Customer(10_000))(t), must(s.User(10_000))(t)}
	const pause = 50 * time.Millisecond
	l := begin(t, s, callers, func(time.Duration) time.Duration { return pause })
	const times = 2
	free := 0 // pages that may come back and not be charged
	for n := range times {
		l.pass()
		only(t, "with space", l.look(), bounded(), cleanedDeveloper)
		filler := filepath.Join(data, "filler")
		fill(t, filler)
		free += len(callers) // under way
		for late := time.Now().Add(patience); ; time.Sleep(pause) {
			answers := l.look()
			only(t, fmt.Sprint("full, ", n+1), answers, bounded(), cleanedDeveloper, busyDeveloper, busyWeb)
			free += kinds(answers)[cleanedDeveloper]
			if len(answers) > 0 && kinds(answers)[cleanedDeveloper] == 0 {
				break
			}
			if time.Now().After(late) {
				t.Fatal("pages are cleaned and paid for without a place to write it down")
			}
		}
		l.pass()
		l.look() // one may have been worked on before
		l.pass()
		only(t, "full for a while", l.look(), bounded(), busyDeveloper, busyWeb)
		if status, _, err := s.get(s.Services[0], "/healthz"); err != nil || status != http.StatusOK {
			t.Errorf("/healthz of a process that lives: %d %v", status, err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if took, err := s.Ready(ctx); err != nil || took > recovery {
			t.Errorf("ready %v after there was space again, not within %v (%v)", took, recovery, err)
		}
		l.pass()
		l.look() // some of them were refused before
	}
	l.pass()
	only(t, "with space again", l.end(), bounded(), cleanedDeveloper)
	l.audit(free)

	copied := t.TempDir() // SQLite would look for the file's own name, which is another one here
	for _, name := range []string{"unink.db", "unink.db-wal"} {
		content := must(os.ReadFile(filepath.Join(data, name)))(t)
		if err := os.WriteFile(filepath.Join(copied, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(copied, "unink.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the database: %q %v", verdict, err)
	}
}

// startOnSmallDisk starts one service with its own engine and the embedded database. Its data
// folder is a file system that nobody else sees but through the process, and that goes with it.
func startOnSmallDisk(t *testing.T) (_ *System, data string) {
	t.Helper()
	folder := sharedFolder(t)
	alone, inside := "--mount", "--mount"
	if os.Getuid() != 0 {
		alone, inside = "--mount --map-root-user", "--mount --user --preserve-credentials"
	}
	wrapper := script(
		t, `exec unshare %s sh -c 'mount -t tmpfs -o size=4m,mode=700 tmpfs "$0" && exec "$@"' '%s' '%s' "$@"`, alone, folder, program,
	)
	s := &System{config: Config{Program: wrapper,
		Flags: append(flags(), "--workers", "1", "--threads", "1")}}
	service, err := s.serve(context.Background(), "--data", folder)
	if service != nil {
		s.Services = []*Service{service}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	pid := service.cmd.Process.Pid
	// for the operator
	s.config.Program = script(t, `exec nsenter --target %d %s -- '%s' "$@"`, pid, inside, program)
	s.storage = []string{"--data", folder}
	return s, fmt.Sprintf("/proc/%d/root%s", pid, folder)
}

// script writes a shell script, and returns its path.
func script(t *testing.T, format string, args ...any) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "unink")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+fmt.Sprintf(format, args...)+"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// fill writes a file until there is no space left.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := strings.Repeat("x", 4096)
	for err == nil {
		_, err = f.WriteString(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

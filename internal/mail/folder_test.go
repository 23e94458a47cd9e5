package mail_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"unink/internal/mail"
)

func TestPruneFolder(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	put := func(name string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put("mail_old.eml", time.Hour)
	put(".part-1", time.Hour)
	put("notes.txt", time.Hour)
	put("mail_new.eml", time.Hour-time.Second)
	put(".part-2", time.Hour-time.Second)
	if err := os.Mkdir(filepath.Join(dir, "folder.eml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("notes.txt", filepath.Join(dir, "link.eml")); err != nil {
		t.Fatal(err)
	}
	prune := func(before time.Time, want int, left ...string) {
		t.Helper()
		if n, err := mail.PruneFolder(dir, before); err != nil || n != want {
			t.Errorf("pruned %d, %v, want %d", n, err, want)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if !slices.Equal(names, left) {
			t.Errorf("left are %v, want %v", names, left)
		}
	}
	prune(now.Add(-time.Hour), 2, ".part-2", "folder.eml", "link.eml", "mail_new.eml", "notes.txt")
	for i := range 450 { // more than are read at once
		put(string(rune('a'+i%26))+time.Duration(i).String()+".eml", 2*time.Hour)
	}
	prune(now.Add(-time.Hour), 450, ".part-2", "folder.eml", "link.eml", "mail_new.eml", "notes.txt")

	if n, err := mail.PruneFolder(filepath.Join(dir, "nothing"), now); err != nil || n != 0 {
		t.Errorf("where there is no folder: %d, %v", n, err)
	}
	if _, err := mail.PruneFolder(filepath.Join(dir, "notes.txt"), now); err == nil {
		t.Error("a file was taken for a folder")
	}
}

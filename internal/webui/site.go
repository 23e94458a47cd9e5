package webui

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
)

// siteView is what a page has that is a file, for want of a server that sends headers.
type siteView struct {
	Policy  string        // its Content-Security-Policy
	Imports template.HTML // its import map, which has the hashes of scripts that are loaded later
}

// Site is the front page as a service has it where only the browser cleans, in each language and
// with all that it loads, as files by their paths in a folder. Addresses in it are relative, so
// that any web server can have the folder anywhere.
func Site() (map[string][]byte, error) {
	u, err := New(Config{Browser: BrowserOnly})
	if err != nil {
		return nil, err
	}
	u.root, u.site = "./", true
	files := map[string][]byte{}
	if err := u.addAssets(files); err != nil {
		return nil, err
	}
	if err := u.addServiceWorker(files); err != nil {
		return nil, err
	}
	return files, u.addPages(files)
}

func (u *UI) addPages(files map[string][]byte) error {
	for i, l := range u.languages {
		page, err := u.render("front", l, u.root, nil)
		if err != nil {
			return err
		}
		name := l.Tag
		if i == 0 {
			name = "index"
		}
		files[name+".html"], files[l.Tag+".webmanifest"] = page, u.webManifest(l)
	}
	return nil
}

func (u *UI) addAssets(files map[string][]byte) error {
	names, err := u.siteAssets()
	if err != nil {
		return err
	}
	for _, name := range names {
		if files["assets/"+name], err = u.read(name); err != nil {
			return err
		}
	}
	return nil
}

// siteAssets lists what the front page loads: all of dist/ but the scripts of other pages.
func (u *UI) siteAssets() (names []string, err error) {
	others := map[string]bool{"sw.js": true, u.manifest.Files["site.ts"]: true}
	for page := range u.pages {
		others[u.manifest.Files[page+".ts"]] = page != "front"
	}
	names, err = u.names()
	return slices.DeleteFunc(names, func(name string) bool { return others[name] }), err
}

// addServiceWorker adds the service worker, which is told what a server would do: it gives pages
// the headers without which browsers have no threads, and workers their policy.
func (u *UI) addServiceWorker(files map[string][]byte) error {
	script, err := u.read("sw.js")
	if err != nil {
		return err
	}
	var pages []string
	for _, l := range u.languages {
		pages = append(pages, strings.TrimPrefix(u.home(l), u.root))
	}
	told, err := json.Marshal(map[string]any{
		"pages": pages, "page": isolation, "worker": workerHeaders,
	})
	if err != nil {
		return err
	}
	files["sw.js"] = fmt.Appendf(nil, "self.site = %s;\n%s", told, script)
	return nil
}

// fitForSite changes a page so that it needs nothing of a server but files.
func (u *UI) fitForSite(v *view) error {
	v.Manifest = u.root + v.Tag + ".webmanifest"
	// Few web servers compress WebAssembly, so that all of it may have to come.
	v.Client.Engine = &engine{u.manifest.Engine.Bytes, u.manifest.Engine.Bytes}
	imports, err := u.importMap()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(imports)
	hash := "script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	v.Site = &siteView{
		Policy:  strings.Replace(loadPolicy, "script-src 'self'", hash, 1),
		Imports: template.HTML(imports), //nolint:gosec // ours
	}
	return nil
}

// importMap has the hash of each script that the page may import, now or later.
func (u *UI) importMap() ([]byte, error) {
	names, err := u.siteAssets()
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, name := range names {
		if path.Ext(name) != ".js" || isWorker(name) {
			continue
		}
		if hashes[u.root+"assets/"+name], err = u.integrityOf(name); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"integrity": hashes})
}

// integrity is the attribute by which a page that is a file refuses another content of what it
// loads.
func (u *UI) integrity(address string) (template.HTMLAttr, error) {
	if !u.site {
		return "", nil // what stands between a service and its users may pack scripts anew
	}
	hash, err := u.integrityOf(path.Base(address))
	return template.HTMLAttr(` integrity="` + hash + `"`), err //nolint:gosec // ours
}

func (u *UI) integrityOf(name string) (string, error) {
	content, err := u.read(name)
	sum := sha512.Sum384(content)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:]), err
}

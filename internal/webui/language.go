package webui

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// language is one file of locales/.
type language struct {
	Tag   string // BCP 47, such as zh-CN; the file's name
	texts map[string]string
}

// languageCookie remembers the language that a reader has chosen.
const languageCookie = "lang"

// readLanguages reads locales/: English first, which is for readers of none of the others.
func readLanguages() ([]*language, error) {
	files, err := sources.ReadDir("locales")
	if err != nil {
		return nil, err
	}
	var found []*language
	for _, file := range files {
		l := &language{Tag: strings.TrimSuffix(file.Name(), ".json")}
		text, err := sources.ReadFile(path.Join("locales", file.Name()))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &l.texts); err != nil {
			return nil, fmt.Errorf("locales/%s: %w", file.Name(), err)
		}
		found = append(found, l)
	}
	slices.SortStableFunc(found, func(a, b *language) int {
		return strings.Compare(strconv.FormatBool(b.Tag == "en"), strconv.FormatBool(a.Tag == "en"))
	})
	return found, nil
}

// Called is the language's name in itself.
func (l *language) Called() string { return l.texts["site.language"] }

// T is a text. Pairs of a placeholder's name and its value may follow: T("page.count", "n", 3).
func (l *language) T(key string, pairs ...any) (string, error) {
	text, known := l.texts[key]
	if !known {
		return "", fmt.Errorf("locales/%s.json has no text %q", l.Tag, key)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%v}", pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	return text, nil
}

// Plan is what a plan or pack of the catalogue is called, by its name there: an operator's own
// plans have no other.
func (l *language) Plan(name string) string {
	if text, known := l.texts[planKey+name]; known {
		return text
	}
	return name
}

// planKey begins the keys of plans' names. The name is in the key, so that one that an operator
// chose is never passed over.
const planKey = "site.js.plan."

// Markup is a text that has HTML in it, and no placeholders.
func (l *language) Markup(key string) (template.HTML, error) {
	text, err := l.T(key)
	return template.HTML(text), err //nolint:gosec // ours
}

// clientTexts are the texts that a page's script shows: those of all pages and its own.
func (l *language) clientTexts(page string) map[string]string {
	found := map[string]string{}
	for key, text := range l.texts {
		if strings.HasPrefix(key, "site.js.") || strings.HasPrefix(key, page+".js.") {
			found[key] = text
		}
	}
	return found
}

// home is the front page's address in a language.
func (u *UI) home(l *language) string {
	if !u.site || l == u.languages[0] {
		return u.root
	}
	return u.root + l.Tag + ".html"
}

// inLanguage is the address that shows a page in another language.
func (u *UI) inLanguage(l *language) string {
	if u.site {
		return u.home(l)
	}
	return "?" + languageCookie + "=" + l.Tag
}

// chooseLanguage answers the link that chooses a language: it is kept in a cookie, and the address
// loses it.
func (u *UI) chooseLanguage(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	chosen := u.language(query.Get(languageCookie))
	if chosen == nil {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: languageCookie, Value: chosen.Tag, Path: "/", MaxAge: 365 * 24 * 60 * 60,
		SameSite: http.SameSiteLaxMode, HttpOnly: true,
	})
	query.Del(languageCookie)
	here := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	to := here.String()
	if !Local(to) {
		to = "/"
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return true
}

func (u *UI) language(tag string) *language {
	for _, l := range u.languages {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

// languageOf is what the reader has chosen, or the first of the browser's languages that there is.
func (u *UI) languageOf(r *http.Request) *language {
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if l := u.language(cookie.Value); l != nil {
			return l
		}
	}
	best, bestWeight := u.languages[0], 0.0
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		wanted, q, weighted := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if weighted {
			var err error
			if weight, err = strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(q), "q="),
				64); err != nil {
				continue
			}
		}
		if l := u.nearest(wanted); l != nil && weight > bestWeight {
			best, bestWeight = l, weight
		}
	}
	return best
}

// nearest is the language itself, or another of the same family: zh-CN for zh-TW.
func (u *UI) nearest(wanted string) *language {
	family, _, _ := strings.Cut(strings.ToLower(wanted), "-")
	var found *language
	for _, l := range u.languages {
		if strings.EqualFold(l.Tag, wanted) {
			return l
		}
		if of, _, _ := strings.Cut(strings.ToLower(l.Tag), "-"); of == family && found == nil {
			found = l
		}
	}
	return found
}

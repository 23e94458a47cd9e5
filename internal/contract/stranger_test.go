package contract

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"unink/internal/store/storetest"
)

// What docs/security.md says that a stranger meets.

// listening are the addresses at which a process listens, TCP and UDP, as the kernel lists them;
// ports are left out where they are any.
func listening(t *testing.T, pid int) []string {
	t.Helper()
	descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, d := range descriptors {
		if to, err := os.Readlink(d); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	const listens, unconnected = "0A", "07"
	var found []string
	for _, protocol := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, protocol))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(table)) {
			column := strings.Fields(line)
			if len(column) < 10 || !own[column[9]] {
				continue
			}
			if column[3] == listens || column[3] == unconnected && strings.HasPrefix(protocol, "udp") {
				found = append(found, strings.TrimSuffix(protocol, "6")+" "+kernelAddress(t, column[1]))
			}
		}
	}
	slices.Sort(found)
	return found
}

// kernelAddress reads an address as /proc/net has it: words of four bytes in the machine's order.
func kernelAddress(t *testing.T, text string) string {
	t.Helper()
	digits, port, _ := strings.Cut(text, ":")
	var ip net.IP
	for ; len(digits) >= 8; digits = digits[8:] {
		word, err := strconv.ParseUint(digits[:8], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		ip = binary.NativeEndian.AppendUint32(ip, uint32(word))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(n))
}

// Without settings the service is on port 8080 of every address, and its metrics on the machine
// itself. Nothing else listens, and with TLS one address more.
func TestWhatListens(t *testing.T) {
	s := prepare(t, storetest.SQLite(t))
	defaults, err := s.command("config").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"listen": ":8080", "metrics-listen": "127.0.0.1:9464",
		"http-listen": ":80", "tls": "false", "open": "false"} {
		if !regexp.MustCompile(`(?m)^` + name + ` +` + regexp.QuoteMeta(want) +
			` +default$`).Match(defaults) {
			t.Errorf("%s is not %s by default", name, want)
		}
	}
	metrics, plain := freePort(t), freePort(t)
	for name, c := range map[string]struct {
		flags []string
		want  []string
	}{
		"plain": {nil, []string{"tcp 127.0.0.1:" + metrics, "tcp [::]:" + s.port}},
		"open":  {[]string{"--open"}, []string{"tcp 127.0.0.1:" + metrics, "tcp [::]:" + s.port}},
		"TLS": {[]string{"--tls", "--http-listen", ":" + plain, "--public-url", "https://localhost"},
			[]string{"tcp 127.0.0.1:" + metrics, "tcp [::]:" + plain, "tcp [::]:" + s.port}},
	} {
		t.Run(name, func(t *testing.T) {
			s.flags = append([]string{"--listen", ":" + s.port, "--metrics-listen", "127.0.0.1:" + metrics},
				c.flags...)
			s.start(t)
			slices.Sort(c.want)
			if got := listening(t, s.process.Process.Pid); !slices.Equal(got, c.want) {
				t.Errorf("the process listens at %q, want %q", got, c.want)
			}
			s.stop(t)
		})
	}
}

// inside are traces of what is behind an answer.
var inside = regexp.MustCompile(
	`goroutine \d|\.go:\d|unink/internal|/root/|/tmp/|/home/|panic|\bSQL\b|sqlite|\bpgx\b|postgres|SELECT |nil pointer|0x[0-9a-f]{8}|root:x:`,
)

func TestStranger(t *testing.T) {
	each(t, []string{"--per-minute", "1000", "--per-hour", "10000"}, func(t *testing.T, s *service) {
		c := s.newCustomer(t)
		t.Run("headers", func(t *testing.T) { everyAnswersHeaders(t, s, c) })
		t.Run("paths", func(t *testing.T) { paths(t, s) })
		t.Run("raw", func(t *testing.T) { rawRequests(t, s) })
		t.Run("nothing is fetched", func(t *testing.T) { nothingIsFetched(t, s, c) })
		t.Run("bombs", func(t *testing.T) { bombs(t, s, c) })
		t.Run("proxies", func(t *testing.T) { proxies(t, s) })
	})
}

// everyAnswersHeaders asks for an answer of each kind.
func everyAnswersHeaders(t *testing.T, s *service, c customer) {
	get := func(path string, more ...string) request {
		r := request{method: http.MethodGet, path: path, header: map[string]string{}}
		for i := 0; i < len(more); i += 2 {
			r.header[more[i]] = more[i+1]
		}
		return r
	}
	script := regexp.MustCompile(`/assets/[^"]+\.js`).FindString(string(s.send(t, get("/")).body))
	for name, k := range map[string]struct {
		r      request
		status int
	}{
		"page":              {get("/"), 200},
		"another page":      {get("/developers"), 200},
		"no page":           {get("/nothing", "Accept", "text/html"), 404},
		"nothing":           {get("/nothing"), 404},
		"script":            {get(script), 200},
		"no asset":          {get("/assets/nothing.js"), 404},
		"service worker":    {get("/sw.js"), 200},
		"manifest":          {get("/manifest.webmanifest"), 200},
		"description":       {get("/openapi.json"), 200},
		"life":              {get("/healthz"), 200},
		"challenge":         {get("/api/bot-challenge"), 200},
		"no session":        {get("/api/me"), 401},
		"no provider":       {get("/api/sign-in"), 404},
		"other method":      {request{method: "BREW", path: "/cleanup", host: c.host}, 405},
		"no token":          {request{path: "/cleanup", host: c.host, content: jsonUTF8, body: []byte("{}")}, 401},
		"customer":          {request{method: http.MethodGet, path: "/account", host: c.host, header: map[string]string{"Authorization": "Bearer " + c.token}}, 200},
		"no JSON":           {request{path: "/api/log-in", content: "text/plain", body: []byte("x")}, 400},
		"wrong password":    {request{path: "/api/log-in", content: "application/json", body: []byte(`{"email":"a@example.com","password":"wrong password"}`)}, 400},
		"wrong link":        {request{path: "/api/verify", content: "application/json", body: []byte(`{"token":"wrong"}`)}, 400},
		"another site":      {request{path: "/api/log-out", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"another's page":    {get("/api/me", "Origin", "https://evil.example"), 401},
		"asked beforehand":  {request{method: http.MethodOptions, path: "/cleanup", host: c.host, header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}}, 405},
		"a part":            {get(script, "Range", "bytes=0-1", "Accept-Encoding", "gzip"), 206},
		"statistics":        {get("/api/operator/statistics"), 401},
		"metrics elsewhere": {get("/metrics"), 404},
		"profiler":          {get("/debug/pprof/"), 404},
	} {
		a, err := s.try(k.r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a.status != k.status {
			t.Errorf("%s: %d %.200s, want %d", name, a.status, a.body, k.status)
		}
		wantHeaders(t, name, a)
		if kind := a.header.Get("Content-Type"); !strings.Contains(kind, "javascript") &&
			!strings.Contains(kind, "html") && inside.Match(a.body) && k.r.path != "/openapi.json" {
			t.Errorf("%s tells of the inside: %s", name, inside.Find(a.body))
		}
	}
}

func wantHeaders(t *testing.T, name string, a answer) {
	t.Helper()
	h := a.header
	policy := h.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "'unsafe-") {
		t.Errorf("%s: Content-Security-Policy %q", name, policy)
	}
	if !strings.Contains(h.Get("Content-Type"), "javascript") &&
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("%s may be shown in a frame: %q", name, policy)
	}
	if referrer := h.Get("Referrer-Policy"); referrer != "no-referrer" && referrer != "same-origin" {
		t.Errorf("%s: Referrer-Policy %q", name, referrer)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Request-Id") == "" ||
		h.Get("Cache-Control") == "" {
		t.Errorf("%s: %v", name, h)
	}
	for header := range h {
		if header == "Server" || strings.HasPrefix(header, "X-Powered") ||
			strings.HasPrefix(header, "Access-Control-") {
			t.Errorf("%s has %s: %s", name, header, h.Get(header))
		}
	}
	if h.Get("Strict-Transport-Security") != "" {
		t.Errorf("%s demands TLS of a service without it", name)
	}
}

// exchange sends bytes as they are, and reads what comes until the service closes or says no more.
func (s *service) exchange(t *testing.T, text string) string {
	t.Helper()
	c := s.dial(t)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(bufio.NewReader(c))
	if err != nil && len(answer) == 0 {
		t.Fatal(err)
	}
	return string(answer)
}

// paths asks for files that are none of the service's.
func paths(t *testing.T, s *service) {
	for _, path := range []string{
		"/../etc/passwd", "/assets/../../../../etc/passwd", "/assets/..%2f..%2f..%2fetc/passwd",
		"/assets/%2e%2e/%2e%2e/unink.db", "/assets//etc/passwd",
		"/assets/..\\..\\etc\\passwd", "/assets/%00", "/assets/.", "/assets/",
		"/assets/%c0%ae%c0%ae/etc/passwd", "/sw.js/../../unink.db", "/mail/", "/secret", "/.git/config",
		"/unink.db", "//etc/passwd", "/%2fetc%2fpasswd", "/proc/self/environ",
		"/openapi.json/../../../etc/passwd", "/assets/....//....//etc/passwd",
	} {
		answer := s.exchange(t, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		status, _, _ := strings.Cut(strings.TrimPrefix(answer, "HTTP/1.1 "), " ")
		if !slices.Contains([]string{"400", "404", "301", "307"}, status) || inside.MatchString(answer) ||
			strings.Contains(answer, "SQLite format") {
			t.Errorf("%s: %.300s", path, answer)
		}
		if _, to, moved := strings.Cut(answer, "Location: "); moved &&
			(!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
			t.Errorf("%s leads elsewhere: %.100s", path, to)
		}
	}
}

// rawRequests sends what HTTP libraries do not: what two programs could read differently.
func rawRequests(t *testing.T, s *service) {
	const second = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, text := range map[string]string{
		"two lengths":         "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd" + second,
		"length and chunks":   "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n" + second,
		"unknown encoding":    "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n" + second,
		"two hosts":           "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n" + second,
		"no host":             "GET / HTTP/1.1\r\n\r\n" + second,
		"a host with a space": "GET / HTTP/1.1\r\nHost: local host\r\n\r\n" + second,
		"space before colon":  "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n" + second,
		"negative length":     "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n" + second,
		"no HTTP":             "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"too many headers":    "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: "+strings.Repeat("x", 90)+"\r\n", 300) + "\r\n",
	} {
		answer := s.exchange(t, text)
		first, rest, _ := strings.Cut(answer, "\r\n")
		if !regexp.MustCompile(`^HTTP/1\.[01] (4\d\d|501) `).MatchString(first) || strings.Contains(rest, "\nHTTP/1.") || inside.MatchString(answer) || strings.Contains(answer, "Server:") {
			t.Errorf("%s: %.400s", name, answer)
		}
	}
}

// nothingIsFetched sends addresses in every place: nobody comes.
func nothingIsFetched(t *testing.T, s *service, c customer) {
	trap, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	visitors := make(chan string, 16)
	go func() {
		defer close(visitors)
		for {
			visitor, err := trap.Accept()
			if err != nil {
				return
			}
			visitors <- visitor.RemoteAddr().String()
			_ = visitor.Close()
		}
	}()
	at := "http://" + trap.Addr().String() + "/x.png"
	svg := `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "` + at + `">]><svg xmlns="http://www.w3.org/2000/svg"><image href="` + at + `"/>&x;</svg>`
	for _, body := range []string{at, "data:image/png;base64,AAAA", svg} {
		_ = s.send(t, c.cleanup(string(marshal(t, map[string]string{"media_id": body}))))
		_ = s.send(t, c.cleanup(media(body)))
		_ = s.upload(t, request{}, "image", body, "isPdfProcessing", "true", "deviceId",
			"a device of ours")
		for _, field := range []string{"userId", "pageSlug", "cfTurnstileToken", "output_format"} {
			_ = s.upload(t, request{}, "image", page, field, body)
		}
	}
	for _, header := range []string{"Referer", "Origin", "X-Forwarded-Host", "Forwarded",
		"X-Original-URL", "Content-Location"} {
		_ = s.upload(t, request{header: map[string]string{header: at}}, "image", page)
	}
	foreign := request{method: http.MethodGet, path: "/", host: trap.Addr().String()}
	_ = s.send(t, foreign)
	if answer := s.exchange(t, "GET "+at+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("the service is a proxy: %.200s", answer)
	}
	if err := trap.Close(); err != nil {
		t.Fatal(err)
	}
	for visitor := range visitors {
		t.Errorf("the service came from %s", visitor)
	}
}

// bombs sends pictures that are small and say that they are not.
func bombs(t *testing.T, s *service, c customer) {
	// what any page takes is no matter of bombs
	s.send(t, c.cleanup(media(page))).code(t, http.StatusOK, 0)
	before := s.memory(t)
	for name, picture := range map[string]string{
		"a profile of 16 GiB": withChunk(t, page, "iCCP", "x\x00\x00"+deflated(t, 16<<10)),
		"a text of 16 GiB":    withChunk(t, page, "zTXt", "x\x00\x00"+deflated(t, 16<<10)),
	} {
		a := s.send(t, c.cleanup(media(picture)))
		if a.status != http.StatusOK && a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
	packed := c.cleanup(deflated(t, 1<<10)).with("Content-Encoding", "deflate")
	s.send(t, packed).code(t, http.StatusBadRequest, 1000)
	const most = 256 // MiB
	if after := s.memory(t); after > before+most {
		t.Errorf("bombs took the service from %d to %d MiB", before, after)
	}
}

// deflated is a zlib stream of so many MiB of zeros, without their checksum.
func deflated(t *testing.T, mebibytes int) string {
	t.Helper()
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	const step = 64
	if _, err := w.Write(make([]byte, step<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	most := min(mebibytes/step, (4<<20)/block.Len()) // so that it stays an upload
	return "\x78\x01" + strings.Repeat(block.String(), max(most, 1))
}

// withChunk is a PNG with a chunk behind its header.
func withChunk(t *testing.T, png, kind, body string) string {
	t.Helper()
	const header = 8 + 4 + 4 + 13 + 4
	if !strings.HasPrefix(png, "\x89PNG") {
		t.Fatal("no PNG")
	}
	return png[:header] + chunk(kind, body) + png[header:]
}

// proxies attempts to log in, from a trusted proxy: each caller has a throttle of its own, and what
// a caller says
// of itself before the proxy does gives nobody another one.
func proxies(t *testing.T, s *service) {
	attempt := func(forwarded string, more ...string) int {
		r := request{path: "/api/log-in", content: "application/json", body: []byte(`{"email":"` + newAddress() + `@example.com","password":"wrong password"}`), header: map[string]string{"X-Forwarded-For": forwarded}}
		for i := 0; i < len(more); i += 2 {
			r.header[more[i]] = more[i+1]
		}
		return s.send(t, r).status
	}
	const allowed = 10 // a minute, by address
	refused := 0
	for n := range 2 * allowed {
		if attempt(fmt.Sprintf("203.0.113.%d, 2001:db8::7", n), "Forwarded",
			fmt.Sprintf(
				"for=203.0.113.%d", n,
			), "X-Real-Ip", fmt.Sprintf("203.0.113.%d", n)) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != allowed {
		t.Errorf("%d of %d attempts of one caller who says to be others were refused", refused, 2*allowed)
	}
	if status := attempt("2001:db8:1::8"); status != http.StatusBadRequest {
		t.Errorf("another caller has %d", status)
	}
}

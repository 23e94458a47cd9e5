package deploy

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver pgx
	"github.com/nats-io/nats-server/v2/server"
)

// patience is how long a container may take for anything.
const patience = 2 * time.Minute

// nobody is who the image runs as.
const nobody = 65532

// image is what the Dockerfile makes: a root folder and how it is run.
type image struct {
	root        string
	environment []string
	entrypoint  []string
}

// build makes the image's content with the commands of the Dockerfile. What the base image holds of
// it, the C library and its companions, is this machine's.
func build(t *testing.T) image {
	t.Helper()
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil ||
		os.Geteuid() != 0 {
		t.Skipf("containers need root and mount namespaces: %v %s", err, out)
	}
	text := string(read(t, "Dockerfile"))
	work := t.TempDir()
	made := image{root: filepath.Join(work, "root")}
	command(t, "..", "go", "build", "-trimpath", "-o", filepath.Join(work, "bin", "unink"),
		"./cmd/unink")
	steps := regexp.MustCompile(`(?m)^RUN (.*/out/.*)$`).FindAllStringSubmatch(text, -1)
	if len(steps) != 1 {
		t.Fatalf("steps that make /out: %q", steps)
	}
	out := filepath.Join(work, "out")
	command(t, work, "sh", "-c", strings.ReplaceAll(steps[0][1], "/out/", out+"/"))
	for _, folder := range []string{"proc", "dev", "tmp", "etc", "run/secrets"} {
		must(t, os.MkdirAll(filepath.Join(made.root, folder), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(made.root, "etc", "hosts"), []byte(hosts), 0o644))
	for _, line := range strings.Split(text[strings.LastIndex(text, "\nFROM "):], "\n") {
		instruction, rest, _ := strings.Cut(line, " ")
		switch words := strings.Fields(rest); instruction {
		case "COPY":
			copied(t, made.root, strings.ReplaceAll(words[len(words)-2], "/out", out), words[len(words)-1],
				strings.Contains(rest, fmt.Sprintf("--chown=%d:%d", nobody, nobody)))
		case "ENV":
			made.environment = append(made.environment, words...)
		case "ENTRYPOINT":
			must(t, json.Unmarshal([]byte(rest), &made.entrypoint))
		}
	}
	libraries(t, made.root)
	return made
}

func copied(t *testing.T, root, from, to string, owned bool) {
	t.Helper()
	to = filepath.Join(root, to)
	must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	command(t, ".", "cp", "-r", from, to)
	if owned {
		command(t, ".", "chown", "-R", fmt.Sprintf("%d:%d", nobody, nobody), to)
	}
}

// libraries copies what the program and the engine are linked with.
func libraries(t *testing.T, root string) {
	t.Helper()
	engine, err := filepath.Glob(filepath.Join(root, "var/cache/unink/unink/onnxruntime-*"))
	if err != nil || len(engine) != 1 {
		t.Fatalf("the image's engines are %q (%v)", engine, err)
	}
	for _, file := range append(engine, filepath.Join(root, "usr/local/bin/unink")) {
		for _, match := range regexp.MustCompile(`(/\S+) \(0x`).FindAllStringSubmatch(
			command(t, ".", "ldd", file), -1,
		) {
			to := filepath.Join(root, match[1])
			must(t, os.MkdirAll(filepath.Dir(to), 0o755))
			command(t, ".", "cp", "-L", match[1], to)
		}
	}
}

func command(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	c := exec.Command(name, arguments...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, arguments, err, out)
	}
	return string(out)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// enter runs a program of the image as nobody, with a root that is read-only but for /data and
// /tmp.
const enter = `set -e
root=$1 data=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount --bind "$data" "$root/data"
exec chroot --userspec=65532:65532 --groups= "$root" "$@"`

// container is a service of a compose file.
type container struct {
	t           *testing.T
	image       image
	data        string
	environment []string
	address     string // of its own, as containers have one each
	running     *exec.Cmd
	log         bytes.Buffer
}

// containerOf makes a container of a service in a compose file, with a file .env.
func (i image) containerOf(t *testing.T, compose node, service, address string,
	env map[string]string) *container {
	t.Helper()
	c := &container{t: t, image: i, data: t.TempDir(), address: address,
		environment: slices.Clone(i.environment)}
	must(t, os.Chown(c.data, nobody, nobody))
	definition := at(compose, "services", service)
	if at(definition, "read_only") != true ||
		at(definition, "user") != fmt.Sprintf("%d:%d", nobody, nobody) {
		t.Fatalf("%s is run otherwise than here", service)
	}
	if at(definition, "env_file") != nil {
		for name, value := range env {
			c.environment = append(c.environment, name+"="+value)
		}
	}
	for name, value := range orNone(at(definition, "environment")) {
		c.environment = append(c.environment, name+"="+interpolated(t, fmt.Sprint(value), env))
	}
	c.environment = append(c.environment, "UNINK_LISTEN="+address+":8080",
		"UNINK_METRICS_LISTEN="+address+":9464")
	return c
}

// interpolated fills a compose file's variables in.
func interpolated(t *testing.T, text string, env map[string]string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{(\w+)(:[-?])?([^}]*)\}`).ReplaceAllStringFunc(
		text, func(found string) string {
			name, fallback, _ := strings.Cut(strings.Trim(found, "${}"), ":")
			switch value := env[name]; {
			case value != "":
				return value
			case strings.HasPrefix(fallback, "-"):
				return fallback[1:]
			}
			t.Fatalf("%s is not set", name)
			return ""
		})
}

func (c *container) command(arguments ...string) *exec.Cmd {
	run := append([]string{"--mount", "sh", "-c", enter, "sh", c.image.root, c.data},
		c.image.entrypoint...)
	command := exec.Command("unshare", append(run, arguments...)...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.environment...)
	return command
}

// start runs the container until the test ends, when it has to end well.
func (c *container) start(arguments ...string) {
	c.t.Helper()
	c.running = c.command(arguments...)
	c.running.Stdout, c.running.Stderr = &c.log, &c.log
	must(c.t, c.running.Start())
	c.t.Cleanup(func() {
		_ = c.running.Process.Signal(syscall.SIGTERM)
		if err := c.running.Wait(); err != nil || c.t.Failed() {
			c.t.Errorf("%q ended with %v\n%s", arguments, err, c.log.String())
		}
	})
}

// healthy waits until the image's own check says so.
func (c *container) healthy() {
	c.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, err := c.command("health").CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(late) {
			c.t.Fatalf("never healthy: %v %s", err, out)
		}
	}
}

// admin runs an operator's command inside, as docker exec does.
func (c *container) admin(v any, arguments ...string) {
	c.t.Helper()
	command := c.command(append([]string{"admin"}, append(arguments, "--json")...)...)
	command.Stdin = strings.NewReader("a l0ng passphrase\n")
	out, err := command.Output()
	if err != nil {
		c.t.Fatalf("admin %q: %v\n%s", arguments, err, out)
	}
	if v != nil {
		must(c.t, json.Unmarshal(out, v))
	}
}

// answer is what the contract's envelopes have in common.
type answer struct {
	Code int
	Data struct{ Data struct{ MediaID []byte } }
}

func (c *container) send(r *http.Request) (status int, a answer) {
	c.t.Helper()
	r.URL.Scheme, r.URL.Host = "http", c.address+":8080"
	res, err := http.DefaultClient.Do(r)
	must(c.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	must(c.t, err)
	if err := json.Unmarshal(text, &a); err != nil {
		c.t.Fatalf("%s: %.200s", res.Status, text)
	}
	return res.StatusCode, a
}

func request(t *testing.T, path, contentType string, body []byte) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
	must(t, err)
	r.Header.Set("Content-Type", contentType)
	return r
}

// buys makes a customer, and returns a function that has a page cleaned for it, with a token.
func (c *container) buys(domain string) (cleanup func(c *container, token string) (int, answer),
	token string) {
	c.t.Helper()
	var sold struct{ Customer struct{ ID, Slug string } }
	c.admin(&sold, "customer", "add", "dev@example.com", "--domain", domain)
	var rotated struct{ Token string }
	c.admin(&rotated, "rotate", sold.Customer.ID)
	page, err := json.Marshal(map[string]string{
		"media_id": base64.StdEncoding.EncodeToString(read(c.t, "../docs/before.jpg")),
	})
	must(c.t, err)
	return func(c *container, token string) (int, answer) {
		r := request(c.t, "/cleanup", "application/json; charset=UTF-8", page)
		r.Host = sold.Customer.Slug + "." + domain
		r.Header.Set("Authorization", "Bearer "+token)
		return c.send(r)
	}, rotated.Token
}

// smoke has pages cleaned by both entry points.
func smoke(t *testing.T, domain string, services ...*container) {
	t.Helper()
	cleanup, token := services[0].buys(domain)
	for _, c := range services {
		if status, a := cleanup(c, token); status != http.StatusOK || a.Code != 0 ||
			len(a.Data.Data.MediaID) == 0 {
			t.Errorf("a page: %d, code %d", status, a.Code)
		}
		if status, a := cleanup(c, token[:len(token)-1]+"_"); status != http.StatusUnauthorized ||
			a.Code != 1006 {
			t.Errorf("a forged token: %d, code %d", status, a.Code)
		}
	}
	services[0].admin(nil, "user", "add", "you@example.com")
	last := services[len(services)-1]
	logIn := request(t, "/api/log-in", "application/json",
		[]byte(`{"email":"you@example.com","password":"a l0ng passphrase"}`))
	session := logInTo(last, logIn)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("image", "page.jpg")
	must(t, err)
	_, err = part.Write(read(t, "../docs/before.jpg"))
	must(t, errorOr(err, parts.Close()))
	r := request(t, "/api/process-image", parts.FormDataContentType(), form.Bytes())
	r.Header.Set("Authorization", "Bearer "+session)
	if status, a := last.send(r); status != http.StatusOK || a.Code != 0 ||
		len(a.Data.Data.MediaID) == 0 {
		t.Errorf("a page of the web: %d, code %d", status, a.Code)
	}
}

func logInTo(c *container, r *http.Request) string {
	c.t.Helper()
	r.URL.Host = c.address + ":8080"
	res, err := http.DefaultClient.Do(r)
	must(c.t, err)
	defer func() { _ = res.Body.Close() }()
	var session struct{ Session string }
	must(c.t, json.NewDecoder(res.Body).Decode(&session))
	return session.Session
}

func errorOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// The image runs alone, as compose.one.yaml has it, with settings from .env.
func TestOneContainer(t *testing.T) {
	env := map[string]string{"UNINK_DOMAIN": "api.example.com", "UNINK_THREADS": "1"}
	c := build(t).containerOf(t, documents(t, "compose.one.yaml")[0], "service", "127.64.1.1", env)
	c.start("serve")
	c.healthy()
	smoke(t, "api.example.com", c)
	if _, err := os.Stat(filepath.Join(c.data, "unink.db")); err != nil {
		t.Error(err)
	}
}

// hosts are the names that containers have for each other.
const hosts = "127.0.0.1 localhost\n127.64.0.5 postgres\n127.64.0.6 redis\n127.64.0.7 nats\n"

// The topology of compose.yaml runs, but for its proxy, which shares requests out.
func TestComposeRuns(t *testing.T) {
	i := build(t)
	env := map[string]string{"UNINK_DOMAIN": "api.example.com",
		"UNINK_PUBLIC_URL": "http://localhost:8080", "UNINK_PER_HOUR": "100",
		"UNINK_POSTGRES_PASSWORD": "one", "UNINK_NATS_SERVICE_PASSWORD": "two",
		"UNINK_NATS_WORKER_PASSWORD": "three", "UNINK_WORKERS": "1"}
	database(t)
	forward(t, "127.64.0.6:6379", "127.0.0.1:56379")
	messages(t, env)
	secret := filepath.Join(i.root, "run/secrets/unink")
	must(t, os.WriteFile(secret, []byte(strings.Repeat("secret of the test ", 3)), 0o400))
	must(t, os.Chown(secret, nobody, nobody))
	compose := documents(t, "compose.yaml")[0]
	var services []*container
	for n, kind := range []string{"service", "worker"} {
		replicas, _ := at(compose, "services", kind, "deploy", "replicas").(int)
		for r := range replicas {
			c := i.containerOf(t, compose, kind, fmt.Sprintf("127.64.%d.%d", n+1, r+1), env)
			c.start(list(at(compose, "services", kind, "command"))[0].(string))
			if kind == "service" {
				services = append(services, c)
			}
		}
	}
	for _, c := range services {
		c.healthy()
	}
	smoke(t, "api.example.com", services...)
}

// database is the topology's PostgreSQL, at the server that the tests have.
func database(t *testing.T) {
	t.Helper()
	admin, err := sql.Open("pgx", "postgres://unink@127.0.0.1:55432/postgres?sslmode=disable")
	must(t, err)
	t.Cleanup(func() { _ = admin.Close() })
	drop := func() error {
		_, err := admin.Exec("DROP DATABASE IF EXISTS unink WITH (FORCE)")
		return err
	}
	must(t, drop())
	_, err = admin.Exec("CREATE DATABASE unink")
	must(t, err)
	t.Cleanup(func() { must(t, drop()) })
	forward(t, "127.64.0.5:5432", "127.0.0.1:55432")
}

// messages is the topology's NATS server.
func messages(t *testing.T, env map[string]string) {
	t.Helper()
	for _, name := range []string{"UNINK_NATS_SERVICE_PASSWORD", "UNINK_NATS_WORKER_PASSWORD"} {
		t.Setenv(name, env[name])
	}
	options, err := server.ProcessConfigFile("kubernetes/nats.conf")
	must(t, err)
	options.Host, options.HTTPHost, options.NoSigs = "127.64.0.7", "127.64.0.7", true
	s, err := server.NewServer(options)
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start at port " + strconv.Itoa(options.Port))
	}
}

// forward hands connections to an address on to another one.
func forward(t *testing.T, from, to string) {
	t.Helper()
	l, err := net.Listen("tcp", from)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go join(in, to)
		}
	}()
}

func join(in net.Conn, to string) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
}

package job

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/option"
	"unink/internal/pause"
)

// Server is a service's developer entry point that cleans the pages.
type Server struct {
	URL   string // scheme and host
	Token string
}

// RunRemote is [Plan.Run] with a service as the engine. The error is one that every further page
// would meet, such as credits that are used up: the run stopped there.
func (p *Plan) RunRemote(ctx context.Context, s Server, jobs int, report Report) (Summary, error) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	service := newRemote(ctx, s, jobs, stop)
	defer service.http.CloseIdleConnections()
	sum := p.Run(running, service, jobs, report)
	if ctx.Err() != nil {
		return sum, nil
	}
	return sum, context.Cause(running)
}

// remote is an engine that is a service's developer entry point.
type remote struct {
	working context.Context // of requests; that of a page ends also when no further one makes sense
	stop    func(cause error)
	url     atomic.Value // of POST /cleanup: a string
	token   string
	http    *http.Client
	pause   func(ctx context.Context, d time.Duration) error
}

func newRemote(ctx context.Context, s Server, jobs int, stop func(error)) *remote {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = jobs
	transport.DialContext = dial
	r := &remote{
		working: ctx, stop: stop, token: s.Token, pause: pause.For,
		http: &http.Client{
			Transport: transport, Timeout: longestRequest,
			// the token is for this host
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	r.url.Store(strings.TrimSuffix(s.URL, "/") + "/cleanup")
	return r
}

// under reports whether the service at an address may send the token on to another one: it is the
// same machine's, or a name under its own.
func under(named, other *url.URL) bool {
	if other.Scheme != named.Scheme || other.Port() != named.Port() {
		return false
	}
	host := named.Hostname()
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		host = "localhost"
	}
	return strings.HasSuffix(other.Hostname(), "."+host)
}

// dial finds each name under localhost on this machine (RFC 6761, 6.3): not every system does.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, _ := net.SplitHostPort(address)
	if strings.HasSuffix(host, ".localhost") {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

const (
	longestRequest = 3 * time.Minute  // for one page there and back
	longestWait    = 10 * time.Minute // for a page's turn
	mostTries      = 5                // of a page, where the service or the way there fails
	firstPause     = 500 * time.Millisecond
	longestPause   = 30 * time.Second
	mostAnswer     = 512 << 20
)

// cleanupRequest is the body of POST /cleanup. What is not asked for is left out: older services do
// not know all options.
func cleanupRequest(image []byte, o unink.Options) ([]byte, error) {
	body := map[string]any{"media_id": image}
	if o.Finish == unink.Colour { // by the name that every service knows
		body["preserve_color"], o.Finish = true, unink.Scan
	}
	o.Layers = true // the report comes with them
	for key, one := range option.By(func(one option.Option) string { return one.Key }) {
		switch text, asked := one.Asked(o); {
		case !asked:
		case one.Values == nil:
			body[key] = true
		case one.List:
			body[key] = strings.Split(text, ",")
		default:
			body[key] = text
		}
	}
	return json.Marshal(body)
}

// cleanupAnswer is what comes back, of a page or as an error.
type cleanupAnswer struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Data struct {
			MediaID []byte `json:"mediaId"`
			Layers  struct {
				Handwriting []byte `json:"handwriting"`
				Mask        []byte `json:"mask"`
			} `json:"layers"`
			Before []byte       `json:"before"`
			Report unink.Report `json:"report"`
		} `json:"data"`
	} `json:"data"`
}

// Clean has a page cleaned. A busy service is waited for, one that fails is asked again, and an
// error that every page would have stops the run.
func (r *remote) Clean(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(data) > unink.DefaultMaxBytes {
		return nil, &unink.Error{Code: unink.ErrTooLarge, Op: "send",
			Message: fmt.Sprintf("%d bytes; a service takes at most %d", len(data),
				unink.DefaultMaxBytes),
			Hint: "save it smaller, as JPEG for instance, or clean it without --server"}
	}
	body, err := cleanupRequest(data, o)
	if err != nil {
		return nil, err
	}
	answer, err := r.insist(ctx, body)
	if err != nil {
		return nil, err
	}
	d := answer.Data.Data
	info, err := unink.Inspect(d.MediaID, unink.Limits{MaxBytes: -1})
	if err != nil {
		return nil, fmt.Errorf("the service's answer holds no picture: %w", err)
	}
	res := &unink.Result{
		Data: d.MediaID, Format: info.Format, Width: info.Width, Height: info.Height,
		Report: d.Report, Before: d.Before,
	}
	if o.Layers {
		res.Handwriting, res.Mask = d.Layers.Handwriting, d.Layers.Mask
	}
	return res, nil
}

// insist sends a page until there is an answer that counts. The key makes it be charged once, in
// whichever try, and also if the command is given again within a day.
func (r *remote) insist(ctx context.Context, body []byte) (*cleanupAnswer, error) {
	sum := sha256.Sum256(body)
	key := "unink-" + hex.EncodeToString(sum[:])
	begun := time.Now()
	for tries, wait := 1, firstPause; ; wait = min(2*wait, longestPause) {
		answer, asked, err := r.send(body, key)
		var again *againError
		if !errors.As(err, &again) {
			return answer, err
		}
		if !again.turn {
			tries++
		}
		if tries > mostTries || time.Since(begun) > longestWait {
			return nil, fmt.Errorf("given up after %d tries in %.0f s: %w", tries,
				time.Since(begun).Seconds(), again.cause)
		}
		if err := r.pause(ctx, max(asked, jittered(wait))); err != nil {
			return nil, err
		}
	}
}

// jittered is between half of d and d, so that those who failed together do not come together.
func jittered(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d/2)))
	if err != nil {
		return d
	}
	return d/2 + time.Duration(n.Int64())
}

// againError says that a page may be sent again.
type againError struct {
	cause error
	turn  bool // it was only not its turn
}

func (e *againError) Error() string { return e.cause.Error() }

// send sends a page once, and once more where the service names the token's own address under its
// own. The duration is what the service asks to wait.
func (r *remote) send(body []byte, key string) (*cleanupAnswer, time.Duration, error) {
	request, err := http.NewRequestWithContext(
		r.working, http.MethodPost, r.url.Load().(string), bytes.NewReader(body),
	)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := r.http.Do(request)
	if err != nil {
		return nil, 0, r.away(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, 0, r.away(err)
	}
	location, _ := response.Location() // none is nil
	if location != nil && response.StatusCode == http.StatusUnauthorized &&
		under(request.URL, location) {
		r.url.Store(location.String())
		return r.send(body, key) // no further one is under that
	}
	answer := &cleanupAnswer{Code: -1}
	if err := json.Unmarshal(data, answer); err != nil || answer.Code < 0 {
		answer.Code, answer.Message = -1,
			"it does not answer as a service of this program does: "+response.Status
		if location != nil {
			answer.Message = "it is at another address: " + location.String()
		}
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // none is 0
	return answer, time.Duration(seconds) * time.Second, r.judge(response.StatusCode, answer)
}

// away is the error of a request that had no answer.
func (r *remote) away(err error) error {
	if r.working.Err() != nil {
		return r.working.Err()
	}
	var told *url.Error
	if errors.As(err, &told) {
		err = told.Err
	}
	return &againError{cause: fmt.Errorf("the service cannot be reached: %w", err)}
}

// judge tells an answer's error.
func (r *remote) judge(status int, a *cleanupAnswer) error {
	if status == http.StatusOK && a.Code == 0 {
		return nil
	}
	err := fmt.Errorf("the service: %s", a.Message)
	switch status {
	case http.StatusTooManyRequests:
		return &againError{err, true}
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return &againError{err, false}
	case http.StatusPaymentRequired:
		err = fmt.Errorf("the credits are used up or have expired (%s)", a.Message)
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("the service does not take the token (%s); is UNINK_TOKEN that of this domain?",
			a.Message)
	}
	if codes := map[int]unink.Code{1004: unink.ErrDimensions, 1005: unink.ErrBroken,
		2003: unink.ErrNoContent}; codes[a.Code] != "" {
		return &unink.Error{Code: codes[a.Code], Op: "clean", Message: a.Message}
	}
	if a.Code < 0 || status == http.StatusPaymentRequired || status == http.StatusUnauthorized ||
		status == http.StatusForbidden {
		r.stop(err)
	}
	return err
}

// CleanImage is [remote.Clean] of pixels, such as a page of a PDF.
func (r *remote) CleanImage(ctx context.Context, m image.Image,
	o unink.Options) (*unink.Page, error) {
	return CleanEncoded(ctx, r.Clean, m, o)
}

// CleanEncoded has pixels cleaned by what takes encoded pictures. They are sent as PNG, or where
// that is more than a service takes as JPEG.
func CleanEncoded(ctx context.Context,
	clean func(context.Context, []byte, unink.Options) (*unink.Result, error), m image.Image,
	o unink.Options) (*unink.Page, error) {
	pixels := imagefile.Opaque(m)
	data, err := imagefile.Encode(ctx, pixels, imagefile.PNG, imagefile.Meta{})
	if err == nil && len(data) > unink.DefaultMaxBytes {
		data, err = imagefile.Encode(ctx, pixels, imagefile.JPEG, imagefile.Meta{})
	}
	if err != nil {
		return nil, err
	}
	o.Format = unink.PNG
	res, err := clean(ctx, data, o)
	if err != nil {
		return nil, err
	}
	back, err := imagefile.Decode(ctx, res.Data, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	page := &unink.Page{Image: back.Pixels, Report: res.Report}
	if len(res.Mask) == 0 {
		return page, nil
	}
	mask, err := imagefile.Decode(ctx, res.Mask, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	page.Mask = image.NewGray(mask.Pixels.Rect)
	draw.Draw(page.Mask, page.Mask.Rect, mask.Pixels, mask.Pixels.Rect.Min, draw.Src)
	return page, nil
}

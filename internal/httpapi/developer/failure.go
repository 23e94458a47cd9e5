package developer

import (
	"fmt"
	"net/http"
	"strconv"

	"unink"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
)

// row is what a kind of failure is to the developer entry point.
type row struct {
	status int
	code   int
	text   string
}

var table = map[failure.Kind]row{
	failure.BadRequest:    {http.StatusBadRequest, 1000, "body error"},
	failure.WrongMethod:   {http.StatusMethodNotAllowed, 1000, "body error"},
	failure.NotFound:      {http.StatusNotFound, 1000, "body error"},
	failure.BadParameter:  {http.StatusBadRequest, 1001, "param error"},
	failure.BadMediaType:  {http.StatusUnsupportedMediaType, 1002, "content type error"},
	failure.NoImage:       {http.StatusBadRequest, 1003, "image not exists"},
	failure.FileTooLarge:  {http.StatusBadRequest, 1004, "image size error"},
	failure.BadDimensions: {http.StatusBadRequest, 1004, "image size error"},
	failure.TooSmall:      {http.StatusBadRequest, 1004, "image size error"},
	failure.UnknownFormat: {http.StatusBadRequest, 1005, "image format error"},
	failure.BrokenImage:   {http.StatusBadRequest, 1005, "image format error"},
	failure.BadToken:      {http.StatusUnauthorized, 1006, "invalid signature"},
	failure.BodyTooLarge:  {http.StatusRequestEntityTooLarge, 1007, "body size error"},
	failure.Unauthorized:  {http.StatusUnauthorized, 1008, "no authorization"},
	failure.NoCredits:     {http.StatusPaymentRequired, 1008, "no authorization"},
	failure.CrossSite:     {http.StatusForbidden, 1008, "no authorization"},
	failure.Unexpected:    {http.StatusInternalServerError, 2000, "server unknown error"},
	failure.TimedOut:      {http.StatusGatewayTimeout, 2001, "server timeout"},
	failure.Blank:         {http.StatusUnprocessableEntity, 2003, "no content recognition"},
	failure.BadResult:     {http.StatusInternalServerError, 2004, "validate data error"},
	failure.Remote:        {http.StatusBadGateway, 3000, "remote server error"},
	failure.Overloaded:    {http.StatusServiceUnavailable, 4000, "base server error"},
	failure.TooManyOpen:   {http.StatusTooManyRequests, 4000, "base server error"},
	failure.NotReady:      {http.StatusConflict, 4000, "base server error"},
}

// sizeRule is said with every code 1004.
var sizeRule = fmt.Sprintf(
	"the image must be under 5 MB and its longest side under %d px, each side at least %d px",
	maxSide, unink.DefaultMinSide,
)

// envelope is the developer entry point's error envelope.
type envelope struct {
	Error   string `json:"error"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// WriteFailure writes a failure as the developer entry point tells it.
func WriteFailure(w http.ResponseWriter, r *http.Request, f *failure.Failure) {
	row := rowOf(f.Kind)
	message := row.text + ": " + f.Message
	switch row.code {
	case 1004:
		message += "; " + sizeRule
	case 2000:
		message = row.text + ": request " + call.Of(r.Context()).ID
	}
	if row.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	setCredits(w.Header(), call.Of(r.Context()), 0)
	w.Header().Set("Content-Type", answerType)
	call.WriteFailure(w, row.status, f, envelope{"API_ERROR", row.code, message})
}

// Outcome is the code of a kind of failure here.
func Outcome(k failure.Kind) string { return strconv.Itoa(rowOf(k).code) }

func rowOf(k failure.Kind) row {
	if row, known := table[k]; known {
		return row
	}
	return table[failure.Unexpected]
}

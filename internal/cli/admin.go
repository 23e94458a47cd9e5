package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"unink/internal/app"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/ident"
	"unink/internal/mail"
	"unink/internal/misuse"
	"unink/internal/operator"
)

// adminCmd are the operator's commands. They work on the database itself, while the service
// runs or not.
type adminCmd struct {
	User      userCmd      `cmd:"" help:"Accounts of the web entry point."`
	Customer  customerCmd  `cmd:"" help:"Customers of the developer entry point."`
	Grant     grantCmd     `cmd:"" help:"Give credits to a user or a customer, without payment."`
	Revoke    revokeCmd    `cmd:"" help:"Take back what is left of a package."`
	Rotate    rotateCmd    `cmd:"" help:"Give a customer a new token."`
	Ledger    ledgerCmd    `cmd:"" help:"Movements of credits, newest first."`
	Log       logCmd       `cmd:"" help:"What operators did, on the web and by these commands, newest first."`
	Audit     auditCmd     `cmd:"" help:"Check that every balance is its ledger's sum."`
	Stats     statsCmd     `cmd:"" help:"Pages by day, entry point, page, flags and outcome."`
	Parked    parkedCmd    `cmd:"" help:"Payments that could not be delivered: refund them, or grant what they are worth."`
	Outbox    outboxCmd    `cmd:"" help:"Mails that wait, were given up, or were sent."`
	Catalogue catalogueCmd `cmd:"" help:"Plans and packs on sale."`
	Backup    backupCmd    `cmd:"" help:"Copy the embedded database, also while the service runs."`
	Restore   restoreCmd   `cmd:"" help:"Put a copy back, while no service runs."`
}

// hint names the command that lists what is sold.
func (f catalogueFlags) hint() string {
	if f.Catalogue == "" {
		return "unink admin catalogue"
	}
	return "unink admin catalogue --catalogue " + quoted(f.Catalogue)
}

// adminFlags are what every operator's command has.
type adminFlags struct {
	storeFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// whyFlags are what commands have that the log of operators' acts keeps.
type whyFlags struct {
	Note string `help:"Why, for the log of what operators do."`
}

// ordered is what is done by a command, and why.
func ordered(note string) operator.Order {
	return operator.Order{Actor: operator.CommandLine, Reason: note}
}

// table is what a command prints: rows for people, a value for programs.
type table struct {
	head  string // tab-separated
	rows  []string
	value any
}

func (t *table) add(cells ...any) {
	text := make([]string, len(cells))
	for i, c := range cells {
		text[i] = cell(c)
	}
	t.rows = append(t.rows, strings.Join(text, "\t"))
}

func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		if v.IsZero() {
			return "-"
		}
		return v.UTC().Format("2006-01-02 15:04:05")
	case string:
		if v == "" {
			return "-"
		}
		return v
	}
	return fmt.Sprint(v)
}

func (f adminFlags) print(out io.Writer, t table) error {
	if f.JSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(t.value)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if t.head != "" {
		fmt.Fprintln(w, t.head)
	}
	for _, row := range t.rows {
		fmt.Fprintln(w, row)
	}
	return w.Flush()
}

// with opens the database, does something with it and prints the result.
func (f adminFlags) with(env *environment,
	do func(ctx context.Context, b *app.Backend) (table, error)) error {
	return f.withPlans(env, sellingFlags{}, domainFlags{}, do)
}

// withPlans is with for what sells plans of a catalogue.
func (f adminFlags) withPlans(env *environment, sell sellingFlags, domain domainFlags,
	do func(ctx context.Context, b *app.Backend) (table, error)) error {
	sell.MailFrom = mail.DefaultConfig().From
	config := sell.backend(f.storeFlags, domain)
	if err := config.Check(); err != nil {
		return err
	}
	b, err := app.Open(env.ctx, config, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	t, err := do(env.ctx, b)
	if err != nil {
		return err
	}
	return f.print(env.stdout, t)
}

type customerCmd struct {
	Add    customerAddCmd    `cmd:"" help:"Sell a plan without payment: makes the customer, its package and token, and mails them."`
	List   customerListCmd   `cmd:"" help:"List customers."`
	Revoke customerRevokeCmd `cmd:"" help:"Close a customer: its tokens are refused from now on."`
}

type customerAddCmd struct {
	adminFlags
	domainFlags
	catalogueFlags
	customerFlags
	Email string `arg:"" help:"E-mail address that the credentials go to."`
	Plan  string `default:"starter" help:"Plan of the catalogue (${default})."`
	Name  string `help:"Name of the customer."`
	Slug  string `help:"First label of its API domain. Default: from the name."`

	ShowToken bool `help:"Print the token of a new customer, beside mailing it."`
	whyFlags
}

func (c *customerAddCmd) Run(env *environment) error {
	sell := sellingFlags{catalogueFlags: c.catalogueFlags, customerFlags: c.customerFlags}
	c.complete(os.Getenv("UNINK_LISTEN"))
	return c.withPlans(env, sell, c.domainFlags,
		func(ctx context.Context, b *app.Backend) (table, error) {
			plan, known := b.Catalogue.Plan(c.Plan)
			if !known || plan.Entry != credit.Developer {
				return table{}, misuse.Errorf("there is no developer plan %q; %s lists them", c.Plan, c.hint())
			}
			p := billing.Purchase{
				Reference: "admin:" + ident.Secret(), Plan: c.Plan, Email: c.Email, Name: c.Name, Slug: c.Slug,
			}
			if err := b.AddCustomer(ctx, ordered(c.Note), p, plan.Credits); err != nil {
				return table{}, err
			}
			d, err := b.Selling.Deliver(ctx, p)
			if err != nil {
				return table{}, err
			}
			t := table{value: d}
			if c.ShowToken {
				t.value = struct {
					billing.Delivery
					Token string `json:"token"`
				}{d, d.Token}
			}
			t.add("customer", d.Customer.ID)
			t.add("API domain", b.APIDomain(d.Customer.Slug))
			t.add("AppCode", d.Customer.AppCode)
			t.add("credits", d.Package.Credits)
			t.add("expires", d.Package.Expires)
			where := "is in the mail to " + c.Email + ", which the service sends within 15 s while it runs"
			if c.ShowToken {
				where = cmp.Or(d.Token, "the customer has one; a new one is made on /developers/account")
			}
			t.add("token", where)
			return t, nil
		})
}

type customerListCmd struct {
	adminFlags
	listFlags
}

func (c *customerListCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		customers, err := b.Accounts.Customers(ctx, c.Limit, c.After)
		t := table{head: "ID\tDOMAIN\tAPPCODE\tE-MAIL\tNAME\tSINCE\tCLOSED\tCREDITS", value: customers}
		for _, cu := range customers {
			credits, err := b.Credits.Balance(ctx, "customer:"+cu.ID)
			if err != nil {
				return t, err
			}
			t.add(cu.ID, cu.Slug, cu.AppCode, cu.Email, cu.Name, cu.Created, cu.Revoked, credits)
		}
		return t, err
	})
}

type customerRevokeCmd struct {
	adminFlags
	Customer string `arg:"" help:"Id, API domain or AppCode."`
	whyFlags
}

func (c *customerRevokeCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		cu, err := b.Operator.Close(ctx, ordered(c.Note), c.Customer)
		return table{rows: []string{"closed " + cu.ID}, value: map[string]string{"closed": cu.ID}}, err
	})
}

type grantCmd struct {
	adminFlags
	catalogueFlags
	To      string `arg:"" help:"User (id or e-mail address) or customer (id, API domain or AppCode)."`
	Plan    string `help:"What a plan of the catalogue gives, as sold: a user has then bought something …" xor:"what" required:""`
	Credits int    `help:"… or this many credits, as a gift …" xor:"what" required:""`
	Months  int    `default:"12" help:"… for this many months (${default})."`
	whyFlags
}

func (c *grantCmd) Run(env *environment) error {
	return c.withPlans(env, sellingFlags{catalogueFlags: c.catalogueFlags}, domainFlags{},
		func(ctx context.Context, b *app.Backend) (table, error) {
			owner, entry, err := b.Operator.Buyer(ctx, c.To)
			if err != nil {
				return table{}, err
			}
			plan := credit.Plan{ID: "grant", Credits: c.Credits, Months: c.Months}
			if c.Plan != "" {
				known := false
				if plan, known = b.Catalogue.Plan(c.Plan); !known {
					return table{}, misuse.Errorf("there is no plan %q; %s lists them", c.Plan, c.hint())
				}
				if plan.Entry != entry {
					return table{}, misuse.Errorf(
						"the plan %q is for %s, and %s is none of them; %s lists plans with their entry point",
						plan.ID, soldTo[plan.Entry], c.To, c.hint(),
					)
				}
			}
			p, err := b.Operator.Grant(ctx, ordered(c.Note), credit.Grant{
				Owner: owner, Plan: plan.ID, Credits: plan.Credits, Expires: plan.Expires(time.Now()),
				Source: "admin:" + ident.Secret(),
			}, c.Plan != "")
			return packagesTable([]credit.Package{p}), err
		})
}

// soldTo says who buys the plans of an entry point.
var soldTo = map[string]string{credit.Web: "users", credit.Developer: "customers"}

func packagesTable(packages []credit.Package) table {
	t := table{head: "ID\tOWNER\tPLAN\tCREDITS\tLEFT\tEXPIRES\tREVOKED\tSOURCE", value: packages}
	for _, p := range packages {
		t.add(p.ID, p.Owner, p.Plan, p.Credits, p.Remaining, p.Expires, p.Revoked, p.Source)
	}
	return t
}

type revokeCmd struct {
	adminFlags
	Source string `arg:"" help:"The package's source, as the ledger and the grant name it."`
	whyFlags
}

func (c *revokeCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		revoked, err := b.Operator.TakeBack(ctx, ordered(c.Note), c.Source)
		return table{rows: []string{fmt.Sprintf("took back %d credits", revoked)},
			value: map[string]int{"revoked": revoked}}, err
	})
}

type rotateCmd struct {
	adminFlags
	Customer string        `arg:"" help:"Id, API domain or AppCode."`
	Grace    time.Duration `default:"24h" help:"How long the earlier token still works (${default})."`
	whyFlags
}

func (c *rotateCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		token, id, _, err := b.Operator.Rotate(ctx, ordered(c.Note), c.Customer, c.Grace)
		return table{rows: []string{token}, value: map[string]string{"id": id, "token": token}}, err
	})
}

type ledgerCmd struct {
	adminFlags
	Owner string        `arg:"" optional:"" help:"User or customer. Default: all."`
	Since time.Duration `default:"720h" help:"How far back (${default})."`
	Limit int           `default:"200" help:"Rows (${default})."`
}

func (c *ledgerCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		owner := ""
		var packages []credit.Package
		if c.Owner != "" {
			var err error
			if owner, err = b.Owner(ctx, c.Owner); err != nil {
				return table{}, err
			}
			if packages, err = b.Credits.Packages(ctx, owner); err != nil {
				return table{}, err
			}
		}
		entries, err := b.Credits.Entries(
			ctx, credit.Filter{Owner: owner, Since: time.Now().Add(-c.Since), Limit: c.Limit},
		)
		t := table{head: "TIME\tOWNER\tKIND\tAMOUNT\tPACKAGE\tHOLD\tNOTE",
			value: map[string]any{"packages": packages, "entries": entries}}
		for _, e := range entries {
			t.add(e.At, e.Owner, e.Kind, e.Amount, e.Package, e.Hold, e.Note)
		}
		return t, err
	})
}

type logCmd struct {
	adminFlags
	Limit  int    `default:"100" help:"Rows (${default})."`
	Before string `help:"Only what was done before the act with this id."`
}

func (c *logCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		entries, err := b.Operator.Entries(ctx, c.Before, c.Limit)
		t := table{head: "ID\tTIME\tBY\tWHAT\tON\tCREDITS\tOBJECT\tWHY", value: entries}
		for _, e := range entries {
			by, on := cmp.Or(e.ActorName, e.Actor), cmp.Or(e.TargetName, e.Target)
			t.add(e.ID, e.At, by, e.Kind, on, e.Credits, e.Object, e.Reason)
		}
		return t, err
	})
}

type auditCmd struct{ adminFlags }

func (c *auditCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		wrong, err := b.Credits.Audit(ctx)
		t := table{value: wrong}
		for _, d := range wrong {
			t.add(fmt.Sprintf("%+v", d))
		}
		if err == nil && len(wrong) > 0 {
			_ = c.print(env.stdout, t)
			return t, fmt.Errorf("%d balances are not their ledger's sum", len(wrong))
		}
		t.add("every balance is its ledger's sum")
		return t, err
	})
}

type statsCmd struct {
	adminFlags
	Days int      `default:"30" help:"How far back (${default})."`
	By   []string `default:"day,entry,outcome" help:"Any of day, entry, caller, page_slug, bulk, pdf, outcome (${default})."`
}

func (c *statsCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		now := time.Now()
		rows, err := b.Uses.Stats(ctx, now.AddDate(0, 0, -c.Days), now, c.By)
		t := table{head: strings.ToUpper(strings.Join(c.By, "\t")) + "\tPAGES\tCHARGED\tMEAN MS",
			value: rows}
		for _, r := range rows {
			var cells []any
			for _, value := range r.Values {
				cells = append(cells, value)
			}
			t.add(append(cells, r.Uses, r.Charged, fmt.Sprintf("%.0f", r.MeanMillis))...)
		}
		return t, err
	})
}

type parkedCmd struct {
	adminFlags
	Limit int `default:"100" help:"Rows (${default})."`
}

func (c *parkedCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		parked, err := b.Parked(ctx, c.Limit)
		t := table{head: "SINCE\tREFERENCE\tPLAN\tE-MAIL\tUSER\tPAID\tWHY", value: parked}
		for _, p := range parked {
			t.add(p.Since, p.Reference, p.Plan, p.Email, p.UserID,
				fmt.Sprintf("%.2f %s", float64(p.Cents)/100, p.Currency), p.Why)
		}
		return t, err
	})
}

type outboxCmd struct {
	List    outboxListCmd    `cmd:"" default:"withargs" help:"List mails, without their text."`
	Retry   outboxRetryCmd   `cmd:"" help:"Try a mail again that was given up."`
	Discard outboxDiscardCmd `cmd:"" help:"Delete a mail that was given up, with the token that may be in it."`
}

type outboxListCmd struct {
	adminFlags
	State string `help:"Only mails in this state." enum:",waiting,sent,dead" default:""`
	Limit int    `default:"100" help:"Rows (${default})."`
}

func (c *outboxListCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		mails, err := b.Outbox.List(ctx, mail.State(c.State), c.Limit)
		t := table{head: "ID\tSTATE\tKIND\tTO\tSINCE\tATTEMPTS\tERROR", value: mails}
		for _, m := range mails {
			t.add(m.ID, m.State, m.Kind, m.To, m.Created, m.Attempts, m.Error)
		}
		return t, err
	})
}

type outboxRetryCmd struct {
	adminFlags
	ID string `arg:"" help:"Id of the mail."`
}

func (c *outboxRetryCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		return table{rows: []string{"the mail is sent when the service runs"},
			value: map[string]string{"retried": c.ID}}, b.Outbox.Retry(ctx, c.ID)
	})
}

type outboxDiscardCmd struct {
	adminFlags
	ID string `arg:"" help:"Id of the mail."`
}

func (c *outboxDiscardCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		t := table{value: map[string]string{"discarded": c.ID}}
		t.add("the mail is gone; a token in it is good until unink admin rotate ends it")
		return t, b.Outbox.Discard(ctx, c.ID)
	})
}

type catalogueCmd struct{ catalogueFlags }

func (c *catalogueCmd) Run(env *environment) error {
	catalogue, err := app.LoadCatalogue(c.Catalogue)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(env.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(catalogue)
}

type backupCmd struct {
	storeFlags
	File string `arg:"" help:"New file." type:"path"`
}

func (c *backupCmd) Run(env *environment) error {
	return app.Storage(c.storeFlags).Backup(env.ctx, c.File)
}

type restoreCmd struct {
	storeFlags
	File string `arg:"" help:"A copy that backup made." type:"existingfile"`
}

func (c *restoreCmd) Run(env *environment) error {
	return app.Storage(c.storeFlags).Restore(env.ctx, c.File)
}

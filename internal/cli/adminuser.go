package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"unink/internal/account"
	"unink/internal/app"
)

type userCmd struct {
	Add    userAddCmd    `cmd:"" help:"Create an account; its address counts as confirmed."`
	List   userListCmd   `cmd:"" help:"List accounts."`
	Role   userRoleCmd   `cmd:"" help:"Give an account the operator's role, or take it away."`
	Delete userDeleteCmd `cmd:"" help:"Delete an account and its user's data."`
}

type userAddCmd struct {
	adminFlags
	Email    string `arg:"" help:"E-mail address."`
	Credits  int    `default:"5" help:"Credits that it begins with (${default})."`
	Operator bool   `help:"May see the operator's pages."`
}

func (c *userAddCmd) Run(env *environment) error {
	password, err := env.password("Password (10 characters or more): ")
	if err != nil {
		return err
	}
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		role := ""
		if c.Operator {
			role = account.Operator
		}
		u, err := b.Operator.AddUser(ctx, ordered(""), c.Email, password, role, c.Credits)
		return usersTable([]account.User{u}), err
	})
}

// password reads a line that a terminal does not show.
func (env *environment) password(prompt string) (string, error) {
	if !terminal(env.stdin) {
		line, err := io.ReadAll(io.LimitReader(env.stdin, 1024))
		return strings.TrimRight(string(line), "\r\n"), err
	}
	fmt.Fprint(env.stderr, prompt)
	line, err := term.ReadPassword(0)
	fmt.Fprintln(env.stderr)
	return string(line), err
}

func usersTable(users []account.User) table {
	t := table{head: "ID\tKIND\tE-MAIL\tROLE\tCONFIRMED\tBOUGHT\tSINCE", value: users}
	for _, u := range users {
		t.add(u.ID, u.Kind, u.Email, u.Role, u.Verified, u.Bought, u.Created)
	}
	return t
}

// listFlags choose a part of a long list.
type listFlags struct {
	Limit int    `default:"100" help:"Rows (${default})."`
	After string `help:"Continue after this id."`
}

type userListCmd struct {
	adminFlags
	listFlags
}

func (c *userListCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		users, err := b.Accounts.Users(ctx, c.Limit, c.After)
		return usersTable(users), err
	})
}

type userRoleCmd struct {
	adminFlags
	User string `arg:"" help:"Id or e-mail address."`
	Role string `arg:"" enum:"operator,none" help:"operator or none."`
	whyFlags
}

func (c *userRoleCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		role := account.Operator
		if c.Role == "none" {
			role = ""
		}
		u, err := b.Operator.SetRole(ctx, ordered(c.Note), c.User, role)
		return usersTable([]account.User{u}), err
	})
}

type userDeleteCmd struct {
	adminFlags
	User string `arg:"" help:"Id or e-mail address."`
	whyFlags
}

func (c *userDeleteCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, b *app.Backend) (table, error) {
		u, left, err := b.Operator.DeleteUser(ctx, ordered(c.Note), c.User)
		t := table{value: map[string]any{"deleted": u.ID, "revoked": left}}
		t.add(fmt.Sprintf("deleted %s, which had %d credits left", u.ID, left))
		return t, err
	})
}

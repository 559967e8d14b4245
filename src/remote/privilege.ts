import { ConnectError } from '../errors.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { lastLine } from '../shell/probe.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import type { ExecResult } from '../transport/transport.ts';
import { framed, withPassword, type Framed, type Wrap } from './frame.ts';
import { LIMITS, noAnswer } from './no-answer.ts';

/** Runs one command line on the host as the user who logged in. */
export type Exec = (framed: Framed) => Promise<ExecResult>;

/** The source of a password for sudo; undefined: there is none, and no terminal to prompt for it. */
export type SudoPassword = () => Promise<Secret | undefined>;

/** What sudo prints for a user that may run nothing; the last words are those of sudo-rs. */
const NOT_ALLOWED =
  /not in the sudoers|not allowed to (?:execute|run sudo)|may not run sudo|I'm afraid I can't do that/i;

const MEMBER = 'add a rule for it: visudo -f /etc/sudoers.d/kbuild';

/**
 * How the user who logs in becomes root: found out once, by commands that change nothing. A password is tried exactly
 * once, and never reaches the stdin of what runs as root. @throws ConnectError with what is missing.
 */
export async function becomeRoot(
  host: LinuxHost,
  exec: Exec,
  nonce: () => string,
  password: SudoPassword,
): Promise<Wrap> {
  const { user } = host.ssh;
  if (user === 'root') return 'none';
  const refuse = (message: string, remedy: string) =>
    new ConnectError(host.name, `${user} cannot become root: ${message}`, { retryable: false, remedy });
  const works = async (wrap: Wrap): Promise<ExecResult | undefined> => {
    const word = nonce();
    const result = await exec(framed(wrap, ':', word));
    if (result.status === 'silent') throw noAnswer(host.name, `become root as ${user}`, LIMITS.short);
    if (result.status === 'lost')
      throw new ConnectError(host.name, 'the connection was lost while becoming root', { retryable: true });
    return result.stdout.includes(word) ? undefined : result;
  };

  const refusal = await works('sudo');
  if (refusal === undefined) return 'sudo';
  const text = `${refusal.stdout}\n${refusal.stderr}`;
  if (/currently not available|nologin/i.test(text))
    throw refuse(
      `its login shell runs nothing: ${lastLine(text)}`,
      `give ${user} a login shell (chsh -s /bin/sh ${user})`,
    );
  if (/must have a tty|no tty present/i.test(text))
    throw refuse('sudo wants a terminal', `turn requiretty off: "Defaults:${user} !requiretty" (visudo)`);
  if (NOT_ALLOWED.test(text)) throw refuse('sudo does not allow it', MEMBER);
  if (refusal.status === 127) {
    if ((await works('doas')) === undefined) return 'doas';
    throw refuse(
      'there is no sudo, and doas does not do it without a password',
      `install sudo, or put "permit nopass ${user}" into /etc/doas.conf`,
    );
  }
  if (!/password is required|a terminal is required|authentication|interaction is required/i.test(text))
    throw refuse(`sudo failed: ${lastLine(text)}`, MEMBER);

  const secret = await password();
  if (secret === undefined)
    throw refuse('sudo wants a password', 'set ssh.sudoPassword, or run kbuild on a terminal to be asked');
  const wrap = withPassword(revealed(secret));
  const failed = await works(wrap);
  if (failed === undefined) return wrap;
  if (NOT_ALLOWED.test(failed.stderr)) throw refuse('sudo does not allow it', MEMBER);
  if (/must have a tty/i.test(failed.stderr))
    throw refuse('sudo wants a terminal', `turn requiretty off: "Defaults:${user} !requiretty" (visudo)`);
  if (
    /incorrect password|try again|no password was provided|authentication fail|incorrect authentication attempt/i.test(
      failed.stderr,
    )
  )
    throw refuse('sudo does not accept the password; it was tried once', 'check ssh.sudoPassword');
  throw refuse(`sudo failed: ${lastLine(failed.stderr)}`, MEMBER);
}

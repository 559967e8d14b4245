import { script } from '../../templates.ts';
import { numberOf, probe } from '../../shell/probe.ts';

/** How long a login takes. */
export interface Login {
  /** From the moment at which sshd took the connection until it accepted the login; undefined if that is not known. */
  readonly sshdMs: number | undefined;
  /** From the start of the login shell until it ran a command: what its own files cost; undefined where no sshd was found. */
  readonly shellMs: number | undefined;
}

/** /proc/PID/stat counts in these: 100 a second, whatever the kernel itself counts in (proc(5), sysconf(3)). */
const TICK_MS = 10;

/**
 * How long the login took. The login shell is the last process before sshd; it began before its files were read. It must run
 * early: `$now` is when the shell of the probes began (probe-batch.sh).
 */
export const login = probe(script('linux/probe-login.sh'), (out, { loginMs }): Login => {
  const [now = 0, start = 0] = out
    .trim()
    .split(' ')
    .map((text) => numberOf(text, 'time'));
  const shellMs = Math.round(now * 1000 - start * TICK_MS);
  // Containers may have an uptime of their own beside times of the machine's.
  return {
    sshdMs: loginMs === undefined ? undefined : Math.round(loginMs),
    shellMs: shellMs >= 0 ? shellMs : undefined,
  };
});

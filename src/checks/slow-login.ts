import { eachHost, type HostFinding } from './each-host.ts';

/** Longer than any key exchange takes: sshd waits for a name server then (kubespray issue 9719). */
const SSHD_MS = 3000;
/** A login shell without files of its own takes a few ms. */
const SHELL_MS = 1500;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const slowLogin = eachHost(
  {
    name: 'slow-login',
    title: 'the SSH server lets in within 3 s, and the login shell runs a command within 1.5 s',
    why: 'sshd that asks a silent name server for the name of the client (UseDNS, or PAM) makes each login wait; files of the login shell that do much make each command wait. Nothing fails, and all is slow.',
    severities: ['warning'],
  },
  ({ facts: { login } }) => {
    const found: HostFinding[] = [];
    if (login.sshdMs !== undefined && login.sshdMs > SSHD_MS)
      found.push({
        severity: 'warning',
        message: `its SSH server took ${seconds(login.sshdMs)} to let kbuild in`,
        remedy: 'set "UseDNS no" in sshd_config, or check its name servers, PAM modules and load',
      });
    if (login.shellMs !== undefined && login.shellMs > SHELL_MS)
      found.push({
        severity: 'warning',
        message: `its login shell took ${seconds(login.shellMs)} before it ran a command`,
        remedy: "check what the shell's files do without a terminal, e.g. ~/.bashrc",
      });
    return found;
  },
);

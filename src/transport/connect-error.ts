import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';

/** Errors of ssh2 carry the layer that failed, errors of sockets a code. */
interface Failure extends Error {
  readonly level?: string;
  readonly code?: string;
}

/** Says what failed in words: which host, where, why, what to do, and whether trying again can help. */
export function connectError(host: Host, failure: Failure): ConnectError {
  const { user, port, identityFile } = host.ssh;
  const where = `${host.address}:${String(port)}`;
  const error = (message: string, retryable: boolean, remedy?: string) =>
    new ConnectError(host.name, `${where}: ${message}`, {
      retryable,
      ...(remedy === undefined ? {} : { remedy }),
      cause: failure,
    });
  const { level, code, message } = failure;

  if (level === 'client-authentication')
    return error(
      `${user} may not log in with ${identityFile ?? "the agent's keys"}`,
      false,
      identityFile === undefined
        ? `is one of the agent's keys (ssh-add -l) in ~${user}/.ssh/authorized_keys?`
        : `is ${identityFile}.pub in ~${user}/.ssh/authorized_keys?`,
    );
  if (level === 'agent') return error(`the SSH agent failed: ${message}`, false, 'check $SSH_AUTH_SOCK (ssh-add -l)');
  if (level === 'client-timeout')
    return error('no answer in time', true, `is the host up, and port ${String(port)} open?`);
  if (code === 'ENOTFOUND') return error('the name does not resolve', false, 'check the address in the inventory');
  if (/no matching/i.test(message))
    return error(
      message,
      false,
      'sshd must allow curve25519-sha256 (or another of kbuild’s algorithms); post-quantum only cannot work',
    );
  if (code === 'ECONNREFUSED') return error('connection refused', true, 'is sshd running, and is this its port?');
  return error(message, true);
}

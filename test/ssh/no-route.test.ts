import { describe, expect, test } from 'vitest';
import type { ConnectError } from '../../src/errors.ts';
import { connectError, type Failure, withRetries } from '../../src/ssh/connect-error.ts';
import { opensshFailure } from '../../src/ssh/openssh.ts';
import { hostOf } from '../fakes/cluster.ts';

const host = hostOf({ name: 'w1' });

/** The error after all attempts, and how many there were. */
async function attempts(failed: () => ConnectError): Promise<{ readonly error: ConnectError; readonly count: number }> {
  let count = 0;
  const attempt = () => {
    count++;
    return Promise.reject(failed());
  };
  const error = await withRetries(attempt, { pause: () => Promise.resolve(), random: () => 0 }).then(
    () => expect.unreachable(),
    (reason: unknown) => reason as ConnectError,
  );
  return { error, count };
}

const failure = (code: string): Failure => Object.assign(new Error(`connect ${code} 192.0.2.1:22`), { code });

describe('a host with no route', () => {
  test.each(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])(
    '%s is told after one attempt: the kernel has tried for as long as it takes',
    async (code) => {
      const { error, count } = await attempts(() => connectError(host, failure(code)));
      expect(count).toBe(1);
      expect(error.message).toContain(`no route to it (${code})`);
      expect(error.remedy).toBe('is the host up, and is its address right?');
    },
  );

  test.each(['No route to host', 'Network is unreachable', 'Host is down'])(
    'OpenSSH that says "%s" is started once',
    async (words) => {
      const { error, count } = await attempts(() =>
        opensshFailure(host, `ssh: connect to host 192.0.2.1 port 22: ${words}\n`),
      );
      expect(count).toBe(1);
      expect(error.message).toContain('no route to it');
    },
  );

  test('a refused connection is tried again, as before', async () => {
    expect((await attempts(() => connectError(host, failure('ECONNREFUSED')))).count).toBe(4);
  });
});

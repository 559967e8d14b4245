import { expect, test } from 'vitest';
import { CommandError, ConnectError } from '../../src/errors.ts';
import { onEach } from '../../src/host/surveyor.survey.ts';
import { linuxHost } from '../fakes/inventory.ts';

const half = 'mtu 10.0.0.11 1500\n10.0.0.11 6443 0 \n10.0.0.11 2379 1';

test('a host that vanishes is said so; what it printed until then is no reason, and the others are measured', async () => {
  const errors: Readonly<Record<string, Error>> = {
    w1: new CommandError('w1', 'host/survey-connect.sh', { status: 'lost', stdout: half, stderr: '' }),
    w2: new CommandError('w2', 'host/survey-disk.sh', {
      status: 1,
      stdout: half,
      stderr: 'dd: what\nno space left\n',
    }),
    w3: new CommandError('w3', 'host/survey-disk.sh', { status: 'TERM', stdout: half, stderr: '' }),
    w4: new ConnectError('w4', 'not connected', { retryable: false }),
  };
  const hosts = ['cp1', ...Object.keys(errors)].map((name) => linuxHost(name));
  const measured = await onEach(hosts, ({ name }) => {
    const error = errors[name];
    return error === undefined ? Promise.resolve('measured') : Promise.reject(error);
  });
  expect(measured.map((one) => ('failed' in one ? one.failed : 'found'))).toEqual([
    'found',
    'the connection was lost meanwhile',
    'host/survey-disk.sh ended with status 1: no space left',
    'host/survey-disk.sh ended with status TERM',
    'w4: not connected',
  ]);
});

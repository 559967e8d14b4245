import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { recordFolder, stateFolder } from '../../src/session/context.ts';

describe('the folder of logs and records', () => {
  test.each([
    [{ XDG_STATE_HOME: '/var/state', HOME: '/home/me' }, '/var/state/kbuild/prod'],
    [{ HOME: '/home/me' }, '/home/me/.local/state/kbuild/prod'],
    [{ XDG_STATE_HOME: '', HOME: '/home/me' }, '/home/me/.local/state/kbuild/prod'],
    [{ XDG_STATE_HOME: 'state', HOME: '/home/me' }, '/home/me/.local/state/kbuild/prod'],
  ])('with %j is %s', (env, expected) => {
    expect(stateFolder({ env }, 'prod')).toBe(expected);
    expect(recordFolder({ env }, 'prod')).toBe(`${expected}/runs`);
  });

  test.each([{}, { HOME: '' }, { HOME: 'me', XDG_STATE_HOME: './' }])(
    'with %j is below the home folder that the system knows, never below the working directory',
    (env) => {
      expect(stateFolder({ env }, 'prod')).toBe(`${userInfo().homedir}/.local/state/kbuild/prod`);
    },
  );
});

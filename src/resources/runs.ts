import type { Change } from '../engine/step.ts';
import type { LinuxHost, WindowsHost } from '../model/inventory.ts';
import type { Command } from '../shell/command.ts';

/** An `apply` that is one command on one host. */
export const runs =
  (host: LinuxHost, command: Command<'sh'>): NonNullable<Change['apply']> =>
  async (on) => {
    await on(host).run(command);
  };

/** The same on a Windows host. */
export const runsOnWindows =
  (host: WindowsHost, command: Command<'powershell'>): NonNullable<Change['apply']> =>
  async (on) => {
    await on(host).run(command);
  };

import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import { powershell } from '../templates.ts';
import type { FactsOf, Probe } from './probe.ts';

/** Every fact of a Windows host. A new fact is one line. */
export const windowsProbes = (_inventory: Inventory, _host: WindowsHost) =>
  ({
    bootTime: {
      command: powershell('windows/boot-time.ps1'),
      parse: (json: string) => JSON.parse(json) as string,
    },
  }) satisfies Readonly<Record<string, Probe<unknown, 'powershell'>>>;

/** One immutable snapshot of a Windows host. */
export type WindowsFacts = FactsOf<ReturnType<typeof windowsProbes>>;

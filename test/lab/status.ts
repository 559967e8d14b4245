import { hostNames, hostSettings } from './host-settings.ts';
import { roleOf } from './inventory.ts';
import { isOn } from './lab.ts';
import { cutOf } from './partition.ts';
import { runningServices } from './services.ts';

/** A table of the hosts, and the servers that run. */
export function statusText(): string {
  const rows = hostNames().map((name) => {
    const { address, internalAddress, os } = hostSettings(name);
    const cut = { all: 'cut off', hosts: 'cut off from hosts', none: '' }[cutOf(name) ?? 'none'];
    return [name, roleOf(name), os, isOn(name) ? 'on' : 'off', address, internalAddress ?? '-', cut];
  });
  const table = [['HOST', 'ROLE', 'OS', 'POWER', 'ADDRESS', 'INTERNAL', ''], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\nservers: ${runningServices().join(', ') || 'none'}\n`;
}

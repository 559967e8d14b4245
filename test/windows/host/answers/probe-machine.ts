import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  hostname: machine.extra.get('hostname') ?? machine.name.toUpperCase(),
  caption: machine.caption,
  build: machine.build,
  revision: machine.revision,
  productType: machine.caption.includes('Server') ? 3 : 1,
  installation: machine.caption.includes('Server') ? 'Server Core' : 'Client',
  edition: machine.caption.includes('Server') ? 'ServerDatacenter' : 'Professional',
  architecture: '64-bit',
  manufacturer: machine.extra.get('manufacturer') ?? 'QEMU',
  model: machine.extra.get('model') ?? 'Standard PC (Q35 + ICH9, 2009)',
  cpus: machine.cpus,
  memoryMiB: machine.memoryMiB,
  pageFileMiB: machine.pageFileMiB,
  uptimeMs: Date.now() - machine.bootTimeMs,
  administrator: machine.administrator,
  languageMode: machine.languageMode,
  powershell: '5.1.20348.2700',
});

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../errors.ts';
import { counted } from '../report/text.ts';
import type { Context } from './context.ts';
import { stateFolder } from './state-folder.ts';

/** What of warnings makes them the same: a line that was added above them changes nothing. */
const signOf = (warnings: readonly Problem[]): string =>
  createHash('sha256')
    .update(warnings.map(({ path, message }) => `${path}\0${message}`).join('\0'))
    .digest('hex');

const inFull = (warnings: readonly Problem[]): string =>
  warnings.map(({ at, path, message }) => `warning: ${at}: ${path}: ${message}\n`).join('');

/**
 * Warnings about an inventory, in full for its first run, and for later ones in one line with their settings: what says
 * the same every time is not read any more. `file`: the inventory, as the operator names it.
 */
export function warningsText(
  { env }: Pick<Context, 'env'>,
  cluster: string,
  file: string,
  warnings: readonly Problem[],
): string {
  if (warnings.length === 0) return '';
  try {
    const folder = stateFolder({ env }, cluster);
    const path = join(folder, 'warnings-shown');
    const sign = signOf(warnings);
    let before = '';
    try {
      before = readFileSync(path, 'utf8');
    } catch {
      // None were shown.
    }
    if (before === sign) {
      const settings = [...new Set(warnings.map((warning) => warning.path))].join(', ');
      return `warning: ${counted(warnings.length, 'warning')} as before (${settings}): \`kbuild validate ${file}\` shows ${warnings.length === 1 ? 'it' : 'them'}\n`;
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, sign, { mode: 0o600 });
  } catch {
    // Without a folder that can be written, they are shown in full each time.
  }
  return inFull(warnings);
}

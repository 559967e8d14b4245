import type { Command } from '../shell/command.ts';
import type { Secret } from '../shell/secret.ts';
import type { Exchange } from './exchange.ts';

/** Placeholder while the job scripts are written. */
export function job(
  on: Exchange,
  name: string,
  command: Command<'sh'>,
  secrets: Readonly<Record<string, Secret>>,
  context: object,
): Promise<string> {
  return Promise.reject(
    new Error(`${on.host.name}: job ${name}: ${command.title} ${typeof secrets} ${typeof context}`),
  );
}

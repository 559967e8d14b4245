import type { Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { file, OURS } from './file.ts';

/** In a unit file `%` begins a specifier, and quotes and backslashes end or escape. */
const unitQuoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('%', '%%')}"`;

/** A drop-in that gives a service the proxy, in both spellings that programs look for; undefined without a proxy. */
function content({ proxy }: Inventory): string | undefined {
  if (proxy === undefined) return undefined;
  const variables = { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy.join(',') };
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [name, name.toLowerCase()].map((key) => `Environment=${unitQuoted(`${key}=${value}`)}`),
  );
  return `${OURS}.\n[Service]\n${lines.join('\n')}\n`;
}

/** A service's drop-in with the inventory's proxy; removed when the inventory no longer has one. */
export const proxyDropIn = (name: string, path: string): Step =>
  file(name, { path, content: ({ inventory }) => content(inventory) });

import { OWN_HEADER } from '../paths.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { file } from './file.ts';

/** Quotes a word for a unit file, where `%` begins a specifier. */
export const unitQuoted = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('%', '%%')}"`;

/** A drop-in with the proxy's variables, in the upper and lower case that programs read; undefined without a proxy. */
function content({ proxy }: Inventory): string | undefined {
  if (proxy === undefined) return undefined;
  const variables = { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy.join(',') };
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [name, name.toLowerCase()].map((key) => `Environment=${unitQuoted(`${key}=${value}`)}`),
  );
  return `${OWN_HEADER}.\n[Service]\n${lines.join('\n')}\n`;
}

/** Writes a service's drop-in with the inventory's proxy. Removes it if the inventory has no proxy. */
export const proxyDropIn = (name: string, path: string): Step =>
  file(name, { path, content: ({ inventory }) => content(inventory) });

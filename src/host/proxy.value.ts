import ipaddr from 'ipaddr.js';
import type { Inventory } from '../inventory/inventory.ts';

/** True when one entry of NO_PROXY covers a host: its name, a domain (`.svc`), an address or a network. */
function covers(entry: string, host: string): boolean {
  if (entry === '*' || entry === host) return true;
  if (entry.includes('/')) {
    if (!ipaddr.isValidCIDR(entry) || !ipaddr.isValid(host)) return false;
    const network = ipaddr.parseCIDR(entry);
    const address = ipaddr.parse(host);
    return address.kind() === network[0].kind() && address.match(network);
  }
  const domain = entry.startsWith('.') ? entry : `.${entry}`;
  return !ipaddr.isValid(host) && host.endsWith(domain);
}

/** True if a host is reached without the proxy. */
export const bypassesProxy = (noProxy: readonly string[], host: string): boolean =>
  noProxy.some((entry) => covers(entry, host));

/** The proxy as parameters of scripts that download; all empty without one. */
export const proxyParameters = (
  proxy: Inventory['proxy'],
): { readonly PROXY: string; readonly HTTPS_PROXY: string; readonly NO_PROXY: string } => ({
  PROXY: proxy?.http ?? '',
  HTTPS_PROXY: proxy?.https ?? '',
  NO_PROXY: proxy?.noProxy.join(',') ?? '',
});

import type { Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { bypassesProxy } from '../topology/proxy.ts';
import { paths } from '../paths.ts';
import { file, OURS } from '../resources/file.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';

/** Hosts of the package repositories that apt reaches directly: apt knows no NO_PROXY with networks and domains. */
function direct({ proxy, kubernetes, runtime }: Inventory): readonly string[] {
  const urls = [kubernetes.repository, runtime.repository].flatMap(({ url, key }) =>
    'url' in key ? [url, key.url] : [url],
  );
  const hosts = urls.map((url) => new URL(url.replaceAll(/[{}]/g, '')).hostname);
  return [...new Set(hosts)].filter((host) => bypassesProxy(proxy?.noProxy ?? [], host));
}

/** apt's proxy; undefined where the inventory has none. */
export function aptProxyConfig(inventory: Inventory): string | undefined {
  const { proxy } = inventory;
  if (proxy === undefined) return undefined;
  const lines = [
    ...(proxy.http === undefined ? [] : [`Acquire::http::Proxy "${proxy.http}";`]),
    ...(proxy.https === undefined ? [] : [`Acquire::https::Proxy "${proxy.https}";`]),
    ...direct(inventory).flatMap((host) => [
      `Acquire::http::Proxy::${host} "DIRECT";`,
      `Acquire::https::Proxy::${host} "DIRECT";`,
    ]),
  ];
  return `${OURS}.\n${lines.join('\n')}\n`;
}

/** apt goes through the proxy; taken back when the inventory has none any more. */
export const aptProxy: Step = file('apt-proxy', {
  path: paths.aptProxy,
  content: ({ inventory }) => aptProxyConfig(inventory),
});

/** The kubelet goes through the proxy. */
export const kubeletProxy: Step = proxyDropIn('kubelet-proxy', paths.kubeletProxy);

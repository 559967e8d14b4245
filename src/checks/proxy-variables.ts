import { eachHost } from './each-host.ts';

const withoutLogin = (url: string): string => url.replace(/\/\/[^/@]*@/, '//…@');

/** A proxy that the host has is also in the inventory. */
export const proxyVariables = eachHost(
  {
    name: 'proxy-variables',
    title: 'the host has no outbound proxy of its own, or the inventory has one',
    why: "kubeadm, the runtime and apt run without the login shell's variables: a proxy that they need belongs into `proxy:` of the inventory, which also completes what must be reached directly.",
    severities: ['warning'],
  },
  ({ inventory, facts: { proxyVariables } }) => {
    const found = ['http_proxy', 'https_proxy'].filter((name) => (proxyVariables.get(name) ?? '') !== '');
    if (found.length === 0 || inventory.proxy !== undefined) return [];
    return [
      {
        severity: 'warning',
        message: `has ${found.map((name) => `${name}=${withoutLogin(proxyVariables.get(name)!)}`).join(', ')} of its own, and the inventory names no proxy`,
        remedy: 'if downloads need it, set proxy.http in the inventory',
      },
    ];
  },
);

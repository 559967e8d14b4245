import { observedLinux } from '../cluster/fleet/fleet.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type Check, type CheckGroup, eachHost, type Finding, type HostFinding, unknown } from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { addressesOf, eachOf, endpointHost, familyOf, hasIpv6 } from '../inventory/addresses.ts';
import { landmarks } from '../inventory/hosts.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { bypassesProxy } from './proxy.value.ts';
import { isSwitchedOn } from './services.facts.ts';

/** The service of NetworkManager that asks a cloud for addresses, and the timer that starts it. */
const UNITS = ['nm-cloud-setup', 'nm-cloud-setup.timer'];

const cloudRoutes = eachHost(
  {
    name: 'cloud-routes',
    title: 'no nm-cloud-setup writes routes of its own',
    why:
      'Images for clouds may have it switched on. It writes rules that send the answers of pods out by the wrong ' +
      'interface ([rke2#1053](https://github.com/rancher/rke2/issues/1053)). On a host that has joined it is a ' +
      'warning. The rules stay until the host reboots.',
    severities: ['error', 'warning'],
    watches: { units: UNITS },
  },
  ({ facts }) => {
    const on = UNITS.filter((unit) => isSwitchedOn(facts.services.get(unit)));
    if (on.length === 0) return [];
    return [
      {
        severity: hasKubelet(facts) ? 'warning' : 'error',
        message: `${on.join(' and ')} ${on.length === 1 ? 'writes' : 'write'} routes that break the network of pods`,
        remedy: 'systemctl disable --now nm-cloud-setup.service nm-cloud-setup.timer, then reboot',
      },
    ];
  },
);

const defaultRoute = eachHost(
  {
    name: 'default-route',
    title: 'the host has a default route',
    why:
      'Addresses of Services belong to no interface: without any route for them the kernel refuses to connect ' +
      "before kube-proxy's rules are asked. A route for the Service network alone will do.",
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const has = (destination: string): boolean => facts.routes.table.some((one) => one.destination === destination);
    return eachOf(inventory.network.serviceSubnet)
      .filter((cidr) => !has(familyOf(cidr) === 'IPv6' ? '::/0' : 'default') && !has(cidr))
      .map((cidr) => ({
        severity: 'error' as const,
        message:
          `has no default route${hasIpv6(inventory) ? ` of ${familyOf(cidr)}` : ''}, so addresses of Services ` +
          'cannot be reached',
        remedy: `add one, or: ip route add ${cidr} dev <interface>`,
      }));
  },
);

const routerAdvertisements = eachHost(
  {
    name: 'accept-ra',
    title: 'a default route of IPv6 that a router advertises survives forwarding',
    why:
      'Nodes forward IPv6, and a kernel that forwards ignores router advertisements where `accept_ra` is 1: it drops ' +
      'the default route at once, or loses it long after the build, when it expires. With 2 it keeps them ' +
      '([ip-sysctl](https://docs.kernel.org/networking/ip-sysctl.html)); kbuild sets this before it turns forwarding ' +
      'on. Network managers that read advertisements themselves set it to 0, and need nothing.',
    severities: ['error'],
  },
  ({ host, facts }) => {
    const name = (device: string): string => `net.ipv6.conf.${device.replaceAll('.', '/')}.accept_ra`;
    return facts.routes.table
      .filter(({ device, acceptRa }) => acceptRa === '1' && host.sysctls[name(device)] !== '2')
      .map(({ device }) => ({
        severity: 'error' as const,
        message: `its default route of IPv6 (${device}) comes from a router, and would be lost with forwarding`,
        remedy: `set it in the inventory: sysctls: { ${name(device)}: 2 }, or give the host a route that stays`,
      }));
  },
);

/** IPv6 needs it (RFC 8200), and little works below. */
const MINIMUM = 1280;

const mtu: Check = {
  name: 'mtu',
  title: 'the interfaces between hosts have the same MTU, with room for the overlay',
  why:
    'The overlay takes its own MTU from the interface of its host. Where hosts differ, large packets from one to ' +
    'the other vanish: small requests work, downloads hang.',
  severities: ['error', 'warning'],
  test: ({ inventory, fleet }) => {
    const header = networkPlugin(inventory).overheadBytes(inventory);
    const found: { host: string; name: string; mtu: number }[] = [];
    const findings: Finding[] = [];
    for (const { host, facts } of observedLinux(fleet)) {
      try {
        const carrier = facts.interfaces.find(({ addresses }) => addresses.includes(host.internalAddress));
        if (carrier !== undefined) found.push({ host: host.name, name: carrier.name, mtu: carrier.mtu });
      } catch (error) {
        if (!(error instanceof FactError)) throw error;
        findings.push(unknown(error));
      }
    }
    const largest = Math.max(...found.map((one) => one.mtu));
    return [
      ...findings,
      ...found.flatMap(({ host, name, mtu: size }): readonly Finding[] => {
        const room = inventory.network.mtu ?? MINIMUM;
        if (size - header < room)
          return [
            {
              severity: 'error',
              host,
              message: `${name} has an MTU of ${String(size)}, and ${String(room + header)} are needed`,
            },
          ];
        return size === largest
          ? []
          : [
              {
                severity: 'warning',
                host,
                message: `${name} has an MTU of ${String(size)}, other hosts have ${String(largest)}`,
                remedy: 'give all interfaces between hosts the same MTU',
              },
            ];
      }),
    ];
  },
};

const pathMtu: Check = {
  name: 'path-mtu',
  title: 'packets that fill the MTU of the interface come through between hosts',
  why:
    "A survey: with the overlay's UDP port each host also gets a datagram as large as the sender's interface " +
    'allows, not to be fragmented. The overlay takes its MTU from the interface, so where the way between hosts ' +
    'carries less (a tunnel, a VPN, a switch without jumbo frames), small requests of pods work and downloads ' +
    'hang. Lower the MTU of the interfaces to what the way carries, or raise that of the way.',
  severities: ['error', 'warning'],
  test: ({ fleet: { surveys } }) => {
    const groups = new Map<string, { readonly finding: Omit<Finding, 'message'>; message: string }>();
    for (const { from, to, address, mtu, reported } of surveys?.ports.narrow ?? []) {
      const target = address === undefined ? to.name : `${to.name} (${familyOf(address)})`;
      const how = reported === undefined ? 'vanish' : `do not fit: a router told ${String(reported)}`;
      const key = `${from.name} ${how}`;
      const known = groups.get(key);
      if (known !== undefined) known.message += `, ${target}`;
      else
        groups.set(key, {
          finding: {
            severity: reported === undefined ? 'error' : 'warning',
            host: from.name,
            remedy: 'lower the MTU of the interfaces between hosts to what the way carries, or mend the way',
          },
          message: `packets of ${String(mtu)} bytes, the MTU of its interface, ${how}, on the way to ${target}`,
        });
    }
    return [...groups.values()].map(({ finding, message }) => ({ ...finding, message }));
  },
};

const withoutLogin = (url: string): string => url.replace(/\/\/[^/@]*@/, '//…@');

const proxyVariables = eachHost(
  {
    name: 'proxy-variables',
    title: 'the host has no outbound proxy of its own, or the inventory has one and its no_proxy names the cluster',
    why:
      "kubeadm, the runtime and the package manager run without the login shell's variables: a proxy that they " +
      'need belongs into `proxy:` of the inventory, which also completes what must be reached directly. People ' +
      "who log in have the host's variables all the same: where `no_proxy` leaves out the cluster, their kubectl " +
      'asks the proxy for it.',
    severities: ['warning'],
  },
  ({ inventory, facts: { proxyVariables } }) => {
    const found = ['http_proxy', 'https_proxy'].filter((name) => (proxyVariables.get(name) ?? '') !== '');
    if (found.length === 0) return [];
    const direct = (proxyVariables.get('no_proxy') ?? '').split(',').map((entry) => entry.trim());
    const needed = [endpointHost(inventory.endpoint), ...inventory.hosts.flatMap(addressesOf)];
    const asked = [...new Set(needed)].filter((host) => !bypassesProxy(direct, host));
    return [
      ...(inventory.proxy !== undefined
        ? []
        : [
            {
              severity: 'warning' as const,
              message:
                `has ${found.map((name) => `${name}=${withoutLogin(proxyVariables.get(name)!)}`).join(', ')} of ` +
                'its own, and the inventory names no proxy',
              remedy: 'if downloads need it, set proxy.http in the inventory',
            },
          ]),
      ...(asked.length === 0
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `has a proxy of its own, and its no_proxy leaves out ${asked.join(', ')}`,
              remedy:
                'add them to no_proxy: kubectl and other programs of people on the host would ask the proxy for them',
            },
          ]),
    ];
  },
);

const routesBetweenHosts = eachHost(
  {
    name: 'routes-between-hosts',
    title: 'the ways between hosts start at the internalAddress',
    why:
      'A host that sends from another address is unknown to the firewalls and to the overlay of the others. ' +
      'Check the routes of hosts with several interfaces. Of many hosts the control planes and two of every /24 ' +
      'stand for all.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    const others = landmarks(inventory).filter(({ name }) => name !== host.name);
    const ways = others.flatMap(({ name, ...other }) =>
      addressesOf(other)
        .slice(0, addressesOf(host).length)
        .map((address) => ({ name, address, source: facts.routes.to.get(address)?.source })),
    );
    const lost = ways.filter(({ source }) => source === undefined);
    const bySource = new Map<string, string[]>();
    for (const { name, source } of ways) {
      if (source === undefined || source === '' || addressesOf(host).includes(source)) continue;
      bySource.set(source, [...(bySource.get(source) ?? []), name]);
    }
    return [
      ...(lost.length === 0
        ? []
        : [
            {
              severity: 'error' as const,
              message: 'has no route ' + `to ${lost.map(({ name, address }) => `${name} (${address})`).join(', ')}`,
              remedy: 'add a route, or correct internalAddress',
            },
          ]),
      ...[...bySource].map(([source, names]) => ({
        severity: 'warning' as const,
        message: `sends from ${source}, not from ${addressesOf(host).join(' or ')}, to ${names.join(', ')}`,
        remedy: 'correct the routes, or set internalAddress to the address that the hosts use among each other',
      })),
    ];
  },
);

const vxlan = eachHost(
  {
    name: 'vxlan',
    title: 'the kernel has VXLAN where the network plugin uses it',
    why:
      'Most network plugins connect hosts by VXLAN. Cloud images with a reduced kernel may lack it: install the ' +
      'full kernel (on a Raspberry Pi: `linux-modules-extra-raspi`), or reboot after a kernel update.',
    severities: ['error'],
  },
  ({ inventory, facts }) =>
    networkPlugin(inventory).vxlanPort(inventory) === undefined || facts.vxlan !== 'missing'
      ? []
      : [
          {
            severity: 'error',
            message:
              `the kernel ${facts.kernel} has no VXLAN, by which ` + `${networkPlugin(inventory).name} connects hosts`,
            remedy: 'install the modules of the running kernel, or reboot if the kernel was updated',
          },
        ],
);

export const networkChecks: CheckGroup = {
  host: [vxlan, proxyVariables, cloudRoutes, defaultRoute, routerAdvertisements],
  fleet: [routesBetweenHosts, mtu],
  survey: [pathMtu],
};

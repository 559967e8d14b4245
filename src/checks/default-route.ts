import { eachHost } from './each-host.ts';

export const defaultRoute = eachHost(
  {
    name: 'default-route',
    title: 'the host has a default route',
    why: "Addresses of Services belong to no interface: without any route for them the kernel refuses to connect before kube-proxy's rules are asked. A route for the Service network alone will do.",
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const covered = facts.routes.table.some(
      ({ destination }) => destination === 'default' || destination === inventory.network.serviceSubnet,
    );
    return covered
      ? []
      : [
          {
            severity: 'error',
            message: `has no default route, so addresses of Services cannot be reached`,
            remedy: `add one, or: ip route add ${inventory.network.serviceSubnet} dev <interface>`,
          },
        ];
  },
);

import type { EndpointAnswer } from '../facts/linux/endpoint.ts';
import { observedLinux } from '../facts/fleet.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

const NO_WAY: Partial<Readonly<Record<EndpointAnswer, string>>> = {
  silent: 'does not answer: packets to it are lost',
  unreachable: 'cannot be reached: no machine has the address, or there is no route',
  unresolved: 'is a name that does not resolve',
};

const error = (message: string, remedy: string): readonly HostFinding[] => [{ severity: 'error', message, remedy }];

/** No machine has the address yet that kbuild will put on a balancer. */
function virtualAddressIsFree({ inventory, facts, fleet }: HostSeen): readonly HostFinding[] {
  const { loadBalancer } = inventory;
  if (!('address' in loadBalancer) || !['refused', 'open', 'serves'].includes(facts.endpoint)) return [];
  const { address } = loadBalancer;
  const isOurs = observedLinux(fleet).some(({ facts: its }) =>
    its.interfaces.some(({ addresses }) => addresses.includes(address)),
  );
  if (isOurs) return [];
  return error(`another machine has the virtual address ${address}`, 'choose a free address for loadBalancer.address');
}

const PAGE = {
  name: 'endpoint',
  title: 'the endpoint leads to a load balancer that waits, and a virtual address is free',
  why: 'Before the cluster stands, a connection to `kubernetes.endpoint` should be refused: the balancer is there and has nothing behind it. One that times out never reaches a control plane; one that is served belongs to another cluster. Mend the load balancer, or choose another address.',
  severities: ['error', 'warning'],
} as const;

/**
 * The endpoint leads somewhere. Before there is a cluster a refused connection is right: the balancer is there, and nothing
 * behind it (kubernetes.io, "Creating Highly Available Clusters"). For a host that joins, the API must answer.
 */
export const endpoint = eachHost(PAGE, (seen) => {
  const { inventory, facts, fleet } = seen;
  const answer = facts.endpoint;
  if (answer === 'not asked') return [];
  if ('address' in inventory.loadBalancer) return fleet.cluster.state === 'absent' ? virtualAddressIsFree(seen) : [];
  const what = `the endpoint ${inventory.endpoint}`;
  const lost = NO_WAY[answer];
  if (lost !== undefined)
    return error(
      `${what} ${lost}`,
      'mend the load balancer or the name; before the cluster stands, a connection should be refused',
    );
  if (fleet.cluster.state !== 'absent')
    return answer === 'refused'
      ? error(`${what} refuses connections`, 'give the load balancer the control planes as backends')
      : [];
  if (answer === 'serves')
    return error(
      `${what} is served already, and there is no cluster of this inventory`,
      'name the load balancer of this cluster, without backends of another one',
    );
  return answer === 'refused'
    ? []
    : [
        {
          severity: 'warning',
          message: `${what} accepts connections before an API server runs: a balancer without backends, or another cluster?`,
        },
      ];
});

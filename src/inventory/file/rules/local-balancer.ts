import { problem, type Rule } from '../../schema/rule.ts';
import { balancerPort, bindPort, LOCAL_PORT, LOOPBACK } from './endpoint.ts';

/** kubelet, kube-proxy, controller manager, scheduler and etcd listen there on every node or control plane. */
const TAKEN: readonly number[] = [2379, 2380, 2381, 10_248, 10_249, 10_250, 10_256, 10_257, 10_259];

/** The balancer of every node is the endpoint: no other one stands beside it, and every node can run it. */
export const localBalancer: Rule = (file) => {
  const { hosts, kubernetes, loadBalancer } = file;
  if (loadBalancer.kind !== 'local') return [];
  const port = balancerPort(file);
  const endpoint = `${LOOPBACK}:${port}`;
  const at = ['loadBalancer', 'port'];
  const isNodePort = port >= 30_000 && port <= 32_767;
  return [
    ...(kubernetes.endpoint === undefined || kubernetes.endpoint === endpoint
      ? []
      : [
          problem(
            ['kubernetes', 'endpoint'],
            `contradicts loadBalancer.kind local, whose endpoint is ${endpoint} on every node; remove it`,
          ),
        ]),
    ...(port === bindPort(file)
      ? [problem(at, `the API servers listen at ${port} on the same hosts; use ${LOCAL_PORT}, or another free port`)]
      : TAKEN.includes(port) || isNodePort
        ? [
            problem(
              at,
              `${port} is ${isNodePort ? 'a port of Services (NodePort)' : 'a port of Kubernetes'}; use another`,
            ),
          ]
        : []),
    ...(port === loadBalancer.healthPort ? [problem(at, 'is loadBalancer.healthPort; use another')] : []),
    ...hosts.flatMap(({ os }, i) =>
      os === 'windows'
        ? [
            problem(
              ['hosts', i, 'os'],
              'a Windows host cannot reach the API with loadBalancer.kind local: there is no haproxy for Windows; ' +
                'use keepalived, kube-vip or external',
            ),
          ]
        : [],
    ),
  ];
};

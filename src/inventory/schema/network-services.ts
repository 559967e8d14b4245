import * as z from 'zod';
import { BALANCER_KINDS } from '../network-plugins.ts';
import { image, label, manifestEntry, text } from './formats.ts';

/** Addresses of a pool: a network, or the first and the last one. Its rule knows what lies between them. */
const poolAddresses = text(
  /^[0-9a-f.:]+(?:\/\d{1,3}|-[0-9a-f.:]+)$/,
  'a network or a range, e.g. "10.0.0.240-10.0.0.250"',
);

/** `network.loadBalancers:` */
export const loadBalancers = z.strictObject({
  kind: z.enum(BALANCER_KINDS).meta({
    examples: ['metallb'],
    description:
      'Who gives Services of type LoadBalancer their addresses and answers for them in the network of the hosts, by ' +
      'ARP and NDP. metallb: MetalLB in layer 2 mode. kube-vip: a DaemonSet of it, with its cloud provider. cilium: ' +
      "with network.plugin cilium and without kube-proxy, Cilium's own.",
  }),
  pools: z
    .record(label(), z.array(poolAddresses).min(1))
    .refine((pools) => Object.keys(pools).length > 0, 'needs a pool')
    .meta({
      examples: [{ lan: ['10.0.0.240-10.0.0.250'] }],
      description:
        'Addresses for Services, by names of pools: networks, or first and last address. They are free ' +
        'addresses of the network of the hosts. kube-vip takes one pool.',
    }),
  interfaces: z
    .array(text(/^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/, 'the name of an interface, e.g. "eth1"'))
    .default([])
    .meta({
      description:
        'Interfaces of the nodes at which the addresses are answered for. Default: all of them, and for kube-vip ' +
        'that of the default route. kube-vip takes one.',
    }),
  manifest: manifestEntry()
    .exactOptional()
    .meta({
      description:
        "metallb: its project's manifest metallb-native.yaml as a YAML file or https:// URL, e.g. of a mirror or of " +
        'another version, or a mapping of source and sha256. Default: that of MetalLB 0.16.2, with its checksum.',
    }),
  image: image()
    .exactOptional()
    .meta({ description: 'kube-vip: its image. Default: ghcr.io/kube-vip/kube-vip:v1.0.1.' }),
  providerImage: image()
    .exactOptional()
    .meta({
      description:
        'kube-vip: image of its cloud provider, which gives out the addresses. Default: ' +
        'ghcr.io/kube-vip/kube-vip-cloud-provider:v0.0.12.',
    }),
});

/** `network.nodeLocalDNS:` */
export const nodeLocalDns = z.strictObject({
  image: image().default('registry.k8s.io/dns/k8s-dns-node-cache:1.26.8').meta({ description: 'Image of node-cache.' }),
  address: text(/^[0-9a-f.:]+$/, 'an address, e.g. "169.254.20.10"')
    .default('169.254.20.10')
    .meta({ description: 'Address of the cache on every node, on an interface of its own: link-local, or unused.' }),
});

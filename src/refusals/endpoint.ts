/** The endpoint, load balancers, and cluster DNS. */
export const endpointPages = {
  'endpoint-changed': {
    title: 'the inventory names another endpoint than the cluster has',
    why: 'Every kubelet and kubeconfig names the endpoint. `kbuild move-endpoint` leads them to another one.',
  },
  'endpoint-of-host': {
    title: "the cluster's endpoint is the address of one host, which cannot be removed or get company",
    why: 'The other control planes would not be used, and without that host the endpoint is gone. Lead the cluster to an endpoint of its own first: `kbuild move-endpoint`.',
  },
  'endpoint-in-use': {
    title: 'something still uses the old endpoint',
    why: 'It would be cut off. The message names what must be led to the new endpoint first.',
  },
  'endpoint-not-serving': {
    title: 'the new endpoint does not serve the cluster to a host yet',
    why: 'What is led there would be cut off. Mend the way there (a firewall, a route, the name), then run the same command again.',
  },
  'endpoint-of-other-cluster': {
    title: 'the new endpoint serves another cluster',
    why: 'Its certificate is of another CA. Name an endpoint that leads to the control planes of this cluster only.',
  },
  'address-taken': {
    title: 'another machine has the virtual address',
    why: 'Two machines with one address take packets from each other. Choose a free address for `loadBalancer.address`.',
  },
  'host-name-taken': {
    title: '/etc/hosts leads the old endpoint to another address than the new one needs',
    why: 'One name cannot have both addresses. Give the new endpoint another name.',
  },
  'balancer-in-use': {
    title: 'a load balancer of kbuild may still be in use',
    why: 'Its clients would lose the API. Lead them to another endpoint first, or build the new balancer on other hosts.',
  },
  'balancer-configuration': {
    title: 'kbuild cannot take API servers out of a load balancer',
    why: 'Its HAProxy has the configuration of an older kbuild, or socat is missing. Run `kbuild up` first.',
  },
  corefile: {
    title: 'the Corefile has blocks that kbuild would break or write twice',
    why: 'CoreDNS does not start with two blocks for one zone. Delete what the message names, or take the zone out of `dns.blocks`.',
  },
  'coredns-missing': {
    title: "kubeadm's CoreDNS is not there, whose pods would try `dns.blocks`",
    why: 'kbuild does not apply blocks that nothing has tried. Bring the Deployment back, or take `dns.blocks` out.',
  },
} as const;

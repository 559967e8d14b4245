/**
 * The nine flows that the documentation of Kubernetes names for Windows (Networking on Windows), and the titles of the flows that
 * try them.
 */
export const DOCUMENTED_FLOWS: Readonly<Record<string, string>> = {
  'Pod -> Pod (IP)': 'pod to pod on one host',
  'Pod -> Pod (Name)': 'pod to pod by name',
  'Pod -> Service (Cluster IP)': 'Service address from a pod',
  'Pod -> Service (PQDN)': 'Service by its short name from a pod',
  'Pod -> Service (FQDN)': 'Service by DNS name from a pod',
  'Pod -> external (IP)': 'outside by address',
  'Pod -> external (DNS)': 'outside by name',
  'Node -> Pod': 'node to pod on another node',
  'Pod -> Node': 'pod to nodes (10250, 10256)',
};

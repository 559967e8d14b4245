# Writes the kubelet's configuration again, from the cluster's and the host's patches, and restarts the kubelet.
# Program: kubeadm.exe. Patches: a folder, which may be missing.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Program,
    [Parameter(Mandatory = $true)][string]$Patches
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$arguments = @('upgrade', 'node', 'phase', 'kubelet-config')
if (Test-Path -LiteralPath $Patches) { $arguments += @('--patches', $Patches) }
$output = @(Invoke-Native -Exe $Program -Arguments $arguments)
Restart-ServiceInTime -Name 'kubelet'
Write-Result -Value @{ output = @($output) }

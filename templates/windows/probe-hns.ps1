# Observes networks and endpoints of the Host Networking Service; none before Windows has the feature Containers. HNS
# may give nothing, '' and objects without an ID: they are no networks.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$networks = @()
$endpoints = @()
if ($null -ne (Find-Existing -Look { Get-Command -Name 'Get-HnsNetwork' -ErrorAction 'Stop' })) {
    foreach ($network in @(Get-HnsNetwork)) {
        if ("$(Get-PropertyOrNull -Of $network -Name 'ID')" -ne '') {
            $networks += @{
                id = "$(Get-Property -Of $network -Name 'ID')"
                name = "$(Get-PropertyOrNull -Of $network -Name 'Name')"
                type = "$(Get-PropertyOrNull -Of $network -Name 'Type')"
                managementAddress = "$(Get-PropertyOrNull -Of $network -Name 'ManagementIP')"
                subnet = "$(Get-HnsSubnet -Network $network)"
            }
        }
    }
    foreach ($endpoint in @(Get-HnsEndpoint)) {
        if ("$(Get-PropertyOrNull -Of $endpoint -Name 'ID')" -ne '') {
            $endpoints += @{
                id = "$(Get-Property -Of $endpoint -Name 'ID')"
                name = "$(Get-PropertyOrNull -Of $endpoint -Name 'Name')"
                network = "$(Get-PropertyOrNull -Of $endpoint -Name 'VirtualNetworkName')"
                address = "$(Get-PropertyOrNull -Of $endpoint -Name 'IPAddress')"
            }
        }
    }
}
Write-Result -Value @{ networks = @($networks); endpoints = @($endpoints) }

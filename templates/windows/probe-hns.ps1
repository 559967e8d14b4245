# Observes networks and endpoints of the Host Networking Service; none before Windows has the feature Containers.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-Field($Object, [string]$Name) {
    if ($null -eq $Object.PSObject.Properties[$Name]) { return '' }
    return [string]$Object.PSObject.Properties[$Name].Value
}
$networks = @()
$endpoints = @()
if ($null -ne (Find-Existing -Look { Get-Command -Name 'Get-HnsNetwork' -ErrorAction 'Stop' })) {
    foreach ($network in @(Get-HnsNetwork)) {
        $subnet = ''
        if ($null -ne $network.PSObject.Properties['Subnets']) {
            foreach ($one in @($network.Subnets)) {
                if ($subnet -eq '') { $subnet = Get-Field $one 'AddressPrefix' }
            }
        }
        $networks += @{
            id = Get-Field $network 'ID'
            name = Get-Field $network 'Name'
            type = Get-Field $network 'Type'
            managementAddress = Get-Field $network 'ManagementIP'
            subnet = $subnet
        }
    }
    foreach ($endpoint in @(Get-HnsEndpoint)) {
        $endpoints += @{
            id = Get-Field $endpoint 'ID'
            name = Get-Field $endpoint 'Name'
            network = Get-Field $endpoint 'VirtualNetworkName'
            address = Get-Field $endpoint 'IPAddress'
        }
    }
}
Write-Result -Value @{ networks = @($networks); endpoints = @($endpoints) }

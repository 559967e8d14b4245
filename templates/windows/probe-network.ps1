# Observes adapters, IPv4 addresses, default routes, whether a route to the metadata service of clouds exists, and the
# firewall category of each network.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$adapters = @()
foreach ($adapter in @(Get-NetAdapter)) {
    $adapters += @{
        index = [int]$adapter.InterfaceIndex
        name = [string]$adapter.Name
        description = [string]$adapter.InterfaceDescription
        mac = [string]$adapter.MacAddress
        status = [string]$adapter.Status
    }
}
$addresses = @()
foreach ($address in @(Get-NetIPAddress -AddressFamily 'IPv4')) {
    $addresses += @{
        index = [int]$address.InterfaceIndex
        name = [string]$address.InterfaceAlias
        address = [string]$address.IPAddress
        bits = [int]$address.PrefixLength
        origin = [string]$address.PrefixOrigin
    }
}
$routes = @()
foreach ($route in @(Find-Existing -Look { Get-NetRoute -DestinationPrefix '0.0.0.0/0' -ErrorAction 'Stop' })) {
    $routes += @{ index = [int]$route.InterfaceIndex; gateway = [string]$route.NextHop }
}
$metadata = @(Find-Existing -Look { Get-NetRoute -DestinationPrefix '169.254.169.254/32' -ErrorAction 'Stop' })
$networks = @()
foreach ($network in @(Find-Existing -Look { Get-NetConnectionProfile -ErrorAction 'Stop' })) {
    $networks += @{ index = [int]$network.InterfaceIndex; category = [string]$network.NetworkCategory }
}
Write-Result -Value @{
    adapters = @($adapters)
    addresses = @($addresses)
    defaultRoutes = @($routes)
    metadataRoute = ($metadata.Count -gt 0)
    networks = @($networks)
}

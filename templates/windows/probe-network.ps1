# Observes adapters, IPv4 addresses, default routes, whether a route to the metadata service of clouds exists, and the
# firewall category of each network.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$adapters = @()
foreach ($adapter in @(Get-NetAdapter)) {
    $adapters += @{
        index = [int](Get-Property -Of $adapter -Name 'InterfaceIndex')
        name = [string](Get-Property -Of $adapter -Name 'Name')
        description = [string](Get-PropertyOrNull -Of $adapter -Name 'InterfaceDescription')
        mac = [string](Get-PropertyOrNull -Of $adapter -Name 'MacAddress')
        status = [string](Get-Property -Of $adapter -Name 'Status')
    }
}
$addresses = @()
foreach ($address in @(Get-NetIPAddress -AddressFamily 'IPv4')) {
    $addresses += @{
        index = [int](Get-Property -Of $address -Name 'InterfaceIndex')
        name = [string](Get-PropertyOrNull -Of $address -Name 'InterfaceAlias')
        address = [string](Get-Property -Of $address -Name 'IPAddress')
        bits = [int](Get-Property -Of $address -Name 'PrefixLength')
        origin = [string](Get-Property -Of $address -Name 'PrefixOrigin')
    }
}
$routes = @()
foreach ($route in @(Find-Existing -Look { Get-NetRoute -DestinationPrefix '0.0.0.0/0' -ErrorAction 'Stop' })) {
    $routes += @{ index = [int](Get-Property -Of $route -Name 'InterfaceIndex'); gateway = [string](Get-Property -Of $route -Name 'NextHop') }
}
$metadata = @(Find-Existing -Look { Get-NetRoute -DestinationPrefix '169.254.169.254/32' -ErrorAction 'Stop' })
$networks = @()
foreach ($network in @(Find-Existing -Look { Get-NetConnectionProfile -ErrorAction 'Stop' })) {
    $networks += @{ index = [int](Get-Property -Of $network -Name 'InterfaceIndex'); category = [string](Get-Property -Of $network -Name 'NetworkCategory') }
}
Write-Result -Value @{
    adapters = @($adapters)
    addresses = @($addresses)
    defaultRoutes = @($routes)
    metadataRoute = ($metadata.Count -gt 0)
    networks = @($networks)
}
